// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/internal/workload"
)

// The kinds that can be protected. They are so in all their versions. (DP-1)
var (
	namespace        = schema.GroupKind{Kind: "Namespace"}
	definition       = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
	unitedDeployment = schema.GroupKind{Group: kruise, Kind: "UnitedDeployment"}
	service          = schema.GroupKind{Kind: "Service"}
	ingress          = schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}
)

const kruise = "apps.kruise.io"

// Kinds returns the kinds that can be protected, a new list with every call.
func Kinds() []schema.GroupKind {
	kinds := []schema.GroupKind{namespace, definition}
	for _, k := range workload.Kinds() {
		if k.Protected {
			kinds = append(kinds, k.GroupKind())
		}
	}
	return append(kinds, unitedDeployment, service, ingress)
}

// Children are what keeps an object from being deleted that is Cascading and does not tell itself
// how many it has.
type Children string

// The children that have to be counted.
const (
	// ActivePods are the pods of a Namespace that are neither Succeeded nor Failed nor
	// being deleted. (DP-6)
	ActivePods Children = "active pods"
	// BoundClaims are the PersistentVolumeClaims of a Namespace without active pods whose phase is Bound, and
	// that are not being deleted. (DP-13)
	BoundClaims Children = `"Bound" status pvc`
	// ActiveObjects are the objects of a CustomResourceDefinition, in all namespaces,
	// that are not being deleted. (DP-7)
	ActiveObjects Children = "active CRs"
)

// Decision says whether an object may be deleted. The zero value allows it.
type Decision struct {
	// Reason is why the object must not be deleted, in the words of DP-5. Empty: it may.
	Reason string
	// Count names what has to be counted before it is known; Counted takes the number.
	// Empty: nothing has to be.
	Count Children
}

// Decide says whether an object of a kind may be deleted. It needs labels and deletion
// timestamp of the object, and for workloads spec.replicas, for which nil is none. Kinds
// other than those of Kinds are not protected. (DP-1, DP-3, DP-4, DP-8)
func Decide(kind schema.GroupKind, object metav1.Object, replicas *int32) Decision {
	switch {
	case isWorkload(kind):
		return because(validation.Deletion(object, replicas))
	case kind == namespace:
		return decideCounted(object, ActivePods)
	case kind == definition:
		return decideCounted(object, ActiveObjects)
	case isEndpoint(kind) && validation.Protected(object) == v1alpha1.AlwaysDeletionProtection:
		return because(validation.Always())
	}
	return Decision{}
}

// isEndpoint tells whether a kind leads to pods, of which there are no children. (DP-14)
func isEndpoint(kind schema.GroupKind) bool { return kind == service || kind == ingress }

// isWorkload tells whether a kind is one of workloads that can be protected.
func isWorkload(kind schema.GroupKind) bool {
	k := workload.KindOf(kind)
	return kind == unitedDeployment || k != nil && k.Protected
}

func decideCounted(object metav1.Object, children Children) Decision {
	switch validation.Protected(object) {
	case v1alpha1.AlwaysDeletionProtection:
		return because(validation.Always())
	case v1alpha1.CascadingDeletionProtection:
		return Decision{Count: children}
	}
	return Decision{}
}

// Counted says what becomes of the decision when there are n of what had to be counted. If
// nothing had to be, it stays the same. (DP-5)
func (d Decision) Counted(n int) Decision {
	if d.Count == "" {
		return d
	}
	return because(validation.Cascading(string(d.Count), n))
}

func because(err error) Decision {
	if err == nil {
		return Decision{}
	}
	return Decision{Reason: err.Error()}
}
