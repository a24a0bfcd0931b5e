// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NoWorkload is the error of a snapshot without the workload of a kind.
func NoWorkload(kind string) error {
	return fmt.Errorf("the Snapshot has no Set; give it the %s to plan for", kind)
}

// ErrNoTime is the error of a snapshot without a time.
var ErrNoTime = errors.New("Snapshot.Now is zero, and would be written into pods; set it to the time to plan for, time.Now() for example")

// Object is what a snapshot holds pointers of.
type Object interface {
	comparable
	metav1.Object
}

// shownObjects is how many objects an error names.
const shownObjects = 3

// Usable returns the objects of a namespace that belong to the workload. The
// others, and nil ones, are left out, and the error says so; field names where
// they stand, and wanted says what they should be like. The given slice is not changed.
func Usable[T Object](objects []T, namespace, field, wanted string, belongs func(T) bool) ([]T, error) {
	useless := func(object T) bool {
		var none T
		return object == none || object.GetNamespace() != namespace || !belongs(object)
	}
	if !slices.ContainsFunc(objects, useless) {
		return objects, nil
	}
	var usable []T
	var names []string
	for _, object := range objects {
		if !useless(object) {
			usable = append(usable, object)
			continue
		}
		var none T
		name := "nil"
		if object != none {
			name = object.GetNamespace() + "/" + object.GetName()
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if more := len(names) - shownObjects; more > 0 {
		names = append(names[:shownObjects], fmt.Sprintf("and %d more", more))
	}
	return usable, fmt.Errorf("%s: %s left out; want objects of namespace %s %s", field, strings.Join(names, ", "), namespace, wanted)
}

// OwnedBy tells whether an object names the UID as an owner.
func OwnedBy(object metav1.Object, owner types.UID) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == owner })
}
