// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestFailures(t *testing.T) {
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "web-0", errors.New("changed"))
	text := func(s ...string) (errs []error) {
		for _, e := range s {
			errs = append(errs, errors.New(e))
		}
		return errs
	}
	creation := func(name string, generated bool) error {
		return &creationError{name: name, generated: generated, err: fmt.Errorf("pods %q is forbidden: exceeded quota", name)}
	}
	for _, test := range []struct {
		name string
		errs []error
		want string
	}{
		{"none", nil, ""},
		{"one", text("a"), "a"},
		{"whichever came first", text("c", "a", "b"), "a; b; c"},
		{"more than three", text("c", "e", "a", "d", "b"), "a; b; c; and 2 more"},
		{"joined more than once", []error{errors.Join(text("b", "d")...), errors.Join(errors.Join(text("c")...), errors.New("a"))}, "a; b; c; and 1 more"},
		{"a conflict is none", []error{conflict, fmt.Errorf("patch: %w", conflict)}, ""},
		{"a conflict beside others", []error{conflict, errors.New("a")}, "a"},
		{"a pod of a generated name is nameless", []error{creation("web-x7k2p", true)}, `create a pod: pods "…" is forbidden: exceeded quota`},
		{"so is its claim", []error{&creationError{name: "web-x7k2p", claim: "data-web-x7k2p", generated: true,
			err: errors.New(`persistentvolumeclaims "data-web-x7k2p" is forbidden`)}}, `create a claim: persistentvolumeclaims "data-…" is forbidden`},
		{"a pod of a stable name is named", []error{creation("web-0", false)}, `create pod web-0: pods "web-0" is forbidden: exceeded quota`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var failures Failures
			err := errors.Join(test.errs...)
			if got := failures.Add("Failed", err); got != err {
				t.Errorf("it returns %v, want what it was given", got)
			}
			var got string
			for _, f := range failures {
				got += f.Condition + " " + f.Err.Error()
			}
			want := test.want
			if want != "" {
				want = "Failed " + want
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("reported (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorthRetrying(t *testing.T) {
	terminating := apierrors.NewForbidden(corev1.Resource("pods"), "web-0", errors.New("namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	if err := WorthRetrying(nil, errors.Join(fmt.Errorf("create pod: %w", terminating), nil)); err != nil {
		t.Errorf("%v is worth retrying", err)
	}
	if err := WorthRetrying(errors.Join(terminating, errQuota), errLost); !errors.Is(err, errLost) || !errors.Is(err, errQuota) || errors.Is(err, terminating) {
		t.Errorf("worth retrying is %v", err)
	}
}
