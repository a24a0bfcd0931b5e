package scene

import (
	"errors"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/internal/apitest"
)

// Errors to inject by FailBefore and FailAfter of the server.
var (
	ErrInternal = apierrors.NewInternalError(errors.New("injected"))
	ErrQuota    = apierrors.NewForbidden(corev1.Resource("pods"), "", errors.New("exceeded quota"))
	ErrLost     = errors.New("connection reset by peer") // no answer
)

// Fail makes the requests of the controller that the text describes fail:
// "delete pods web-x" for example, where the name may be left out.
func Fail(what string, err error) func(apitest.Request) error {
	return func(r apitest.Request) error {
		if r.User == ControllerUser && strings.HasPrefix(r.String()+" "+r.Name, what) {
			return err
		}
		return nil
	}
}

// Once makes a failure happen once; happened tells whether it has.
func Once(fail func(apitest.Request) error) (once func(apitest.Request) error, happened func() bool) {
	var done atomic.Bool
	return func(r apitest.Request) error {
		if err := fail(r); err != nil && done.CompareAndSwap(false, true) {
			return err
		}
		return nil
	}, done.Load
}

// FirstStatus finds an API server's error among joined ones.
func FirstStatus(err error) error {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		return status
	}
	return err
}

// Joined lists the errors that a pass has joined.
func Joined(err error) []error {
	if err == nil {
		return nil
	}
	return err.(interface{ Unwrap() []error }).Unwrap()
}
