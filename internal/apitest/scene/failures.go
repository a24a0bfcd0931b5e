package scene

import (
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		if r.User == ControllerUser && strings.HasPrefix(r.String()+" "+nameIn(r), what) {
			return err
		}
		return nil
	}
}

// nameIn is the name of the object of a request, that of a creation too.
func nameIn(r apitest.Request) string {
	if r.Verb != "create" {
		return r.Name
	}
	var created metav1.PartialObjectMetadata
	_ = json.Unmarshal(r.Body, &created) // otherwise there is no name
	return created.Name
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
