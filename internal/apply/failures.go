// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
)

// Failures collects what to report in the status, besides the errors that make
// the reconcile be repeated.
type Failures []rollout.Problem

// Add adds an error to what the condition reports, unless there is nothing to
// report about it, and returns it.
func (f *Failures) Add(condition string, err error) error {
	if report := summary(err); report != nil {
		*f = append(*f, rollout.Problem{Condition: condition, Err: report})
	}
	return err
}

// shownFailures is how many failures one condition spells out.
const shownFailures = 3

// summary is what a condition says about joined errors. It is short, and the
// same whichever of them came first: the same failures cost no second write.
// Conflicts are no failures: the reconcile is repeated on what the object is by then.
func summary(err error) error {
	var messages []string
	for _, e := range Separate(err) {
		if !apierrors.IsConflict(e) {
			messages = append(messages, report(e))
		}
	}
	if len(messages) == 0 {
		return nil
	}
	slices.Sort(messages)
	if more := len(messages) - shownFailures; more > 0 {
		messages = append(messages[:shownFailures], fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(messages, "; "))
}

// creationError is the failure to create a pod, or a claim for it.
type creationError struct {
	name      string // of the pod
	claim     string // empty: it is the pod itself
	generated bool
	err       error
}

func (e *creationError) Error() string {
	if e.claim != "" {
		return "create claim " + e.claim + ": " + e.err.Error()
	}
	return "create pod " + e.name + ": " + e.err.Error()
}

func (e *creationError) Unwrap() error { return e.err }

// report is what a condition says about an error. It leaves out the generated
// name of a pod that does not exist, and of its claims, which is another one the next time. Of a long text
// it is the beginning.
func report(err error) string {
	var creation *creationError
	if errors.As(err, &creation) && creation.generated {
		thing := "a pod"
		if creation.claim != "" {
			thing = "a claim"
		}
		return apiwriter.Short("create " + thing + ": " + strings.ReplaceAll(creation.err.Error(), creation.name, "…"))
	}
	return apiwriter.Short(err.Error())
}

// Separate lists the errors that have been joined.
func Separate(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, Separate(e)...)
	}
	return all
}

// WorthRetrying joins the errors of a reconcile, without those that another reconcile
// cannot avoid. In a namespace that is being deleted nothing can be created
// any more.
func WorthRetrying(errs ...error) error {
	var left []error
	for _, err := range Separate(errors.Join(errs...)) {
		if !inEndingNamespace(err) {
			left = append(left, err)
		}
	}
	return errors.Join(left...)
}

// Gone tells whether the object of a write no longer exists. Every write names
// the UID of its object. If another object has taken the name, a deletion is a
// conflict, and a patch is refused since it would change the UID.
func Gone(err error) bool {
	return apierrors.IsNotFound(err) || replaced(err)
}

func replaced(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Field == "metadata.uid" {
			return true
		}
	}
	return false
}
