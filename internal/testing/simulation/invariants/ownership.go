// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// checkOwnership: nothing is touched that the workload does not control. What it
// controlled when the author looked, and was given up since, is excused; another
// object of the same name is not. may says what else may be touched.
func checkOwnership(v *violations, w *Write, uid types.UID, may func(before, after Object) bool) {
	if w.Before == nil || uid == "" {
		return
	}
	if w.Before.GetUID() == uid || controls(uid, w.Before) || may(w.Before, w.After) {
		return
	}
	if known := w.knownObject(); known != nil && known.GetUID() == w.Before.GetUID() && controls(uid, known) {
		return
	}
	v.add(Ownership, "%s of %s %s, whose owners are %v", w.Verb, w.Resource, w.name(), ownerNames(w.Before))
}

// checkPrecise: a write names the UID of the object that its author saw, so that
// no other one of the same name is hit.
func checkPrecise(v *violations, w *Write) {
	if w.Before != nil && w.Asked != nil && w.Asked.UID == "" {
		v.add(Ownership, "%s of %s %s does not name its UID", w.Verb, w.Resource, w.name())
	}
}

// knownObject is the object as the author knew it, nil if it knew none.
func (w *Write) knownObject() metav1.Object {
	if w.Known == nil {
		return nil
	}
	switch w.Resource {
	case "pods":
		if known := w.Known.Pods[w.name()]; known != nil {
			return known
		}
	case "persistentvolumeclaims":
		if known := w.Known.Claims[w.name()]; known != nil {
			return known
		}
	case "controllerrevisions":
		if known := w.Known.Revisions[w.name()]; known != nil {
			return known
		}
	}
	return nil
}

func ownerNames(object metav1.Object) (names []string) {
	for _, owner := range object.GetOwnerReferences() {
		names = append(names, owner.Kind+" "+owner.Name)
	}
	return names
}
