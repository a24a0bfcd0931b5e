// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Answer is what a client was told that wants to delete, evict or update a pod.
type Answer struct {
	// By is the process that answered: a replica of a webhook, or a controller that asked itself. For
	// is the client that wanted to know.
	By, For string
	// Itself tells that By is a controller.
	Itself bool
	// Operation is DELETE, EVICT or UPDATE, of the pod of a name.
	Operation, Name string
	DryRun          bool
	// Budget is the name of the budget of the history. After is the pod as the request would leave it. It is nil if the
	// pod is to go, and if By is a controller.
	Budget string
	After  Object
	// Began and Ended are when it was asked and answered, Version how far the API server was when
	// it was asked.
	Began, Ended time.Time
	Version      int64

	Allowed bool
	// Denial is what the client is told; nil if it is allowed, and for a controller.
	Denial *metav1.Status
	// Unknown says that a controller could not tell.
	Unknown bool
	// Failed says that a request of the author failed meanwhile, or that its answer was lost.
	Failed bool
	// Shared says that the same process was asked about the same pod at the same time.
	Shared bool

	// Cached returns what an object of a resource was in the author's cache when the author was asked, and all its
	// later states. If it was asked about an earlier state, Cached begins with that one. Truth returns what the object
	// was in the API server then. Nil stands for none.
	Cached, Truth func(resource, name string) []Object

	resizesAlone bool // as BudgetFeatures have it
}
