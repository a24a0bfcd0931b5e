// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/apiwriter"
)

// namespaceEnding is the error of a creation in a namespace that is being deleted, as the
// API server gives it. It lacks the name of what was to be created.
func namespaceEnding(namespace string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Message: "namespace " + namespace + " is being deleted: nothing can be created in it any more",
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
	}}
}

// inEndingNamespace tells whether an error says that a namespace is being deleted.
func inEndingNamespace(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// Creations sends creations on behalf of objects. Once the API server has refused
// one since the namespace is being deleted, it sends none for that object until
// its spec changes. Those would be as many refusals as there are events about what goes with the
// namespace. Its zero value is ready for use,
// by several goroutines.
type Creations struct{ refused apiwriter.Last[refusal] }

// refusal says for which state of an object nothing can be created.
type refusal struct {
	refused    bool
	uid        types.UID
	generation int64
}

func refusalOf(of metav1.Object) refusal {
	return refusal{refused: true, uid: of.GetUID(), generation: of.GetGeneration()}
}

// is tells whether it is about an object in its present state.
func (r refusal) is(of metav1.Object) bool { return r == refusalOf(of) }

// Create calls create on behalf of an object, unless that is known to be in vain.
func (c *Creations) Create(of metav1.Object, create func() error) error {
	key := keyOf(of)
	now := refusalOf(of)
	if c.refused.Get(key).is(of) {
		return namespaceEnding(of.GetNamespace())
	}
	err := create()
	if inEndingNamespace(err) {
		c.refused.Set(key, now)
		return namespaceEnding(of.GetNamespace())
	}
	return err
}

// Forget drops what is remembered of an object that no longer exists.
func (c *Creations) Forget(key types.NamespacedName) { c.refused.Forget(key) }
