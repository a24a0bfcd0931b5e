// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"maps"
	"slices"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Hooks are the names of all hooks.
var Hooks = []string{"preDelete", "inPlaceUpdate", "preNormal"}

// Lifecycle refuses hooks of labels and finalizers that no pod can have: a pod is never held back by them, or held back for ever.
// Those are judged that are named: the others have no effect with the kind. Nil is right.
func Lifecycle(l *lifecyclev1alpha1.Lifecycle, path *field.Path, hooks ...string) (errs field.ErrorList) {
	if l == nil {
		return nil
	}
	for _, hook := range []struct {
		name string
		*lifecyclev1alpha1.LifecycleHook
	}{{"preDelete", l.PreDelete}, {"inPlaceUpdate", l.InPlaceUpdate}, {"preNormal", l.PreNormal}} {
		if hook.LifecycleHook == nil || !slices.Contains(hooks, hook.name) {
			continue
		}
		at := path.Child(hook.name)
		for _, key := range slices.Sorted(maps.Keys(hook.LabelsHandler)) {
			label, value := at.Child("labelsHandler").Key(key), hook.LabelsHandler[key]
			for _, why := range utilvalidation.IsQualifiedName(key) {
				errs = append(errs, field.Invalid(label, key, "no pod can have this label: "+why))
			}
			for _, why := range utilvalidation.IsValidLabelValue(value) {
				errs = append(errs, field.Invalid(label, value, "no pod can have this label: "+why))
			}
		}
		for i, finalizer := range hook.FinalizersHandler {
			for _, why := range utilvalidation.IsQualifiedName(finalizer) {
				errs = append(errs, field.Invalid(at.Child("finalizersHandler").Index(i), finalizer, "no pod can have this finalizer: "+why))
			}
		}
	}
	return errs
}
