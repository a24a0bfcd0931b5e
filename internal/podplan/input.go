// SPDX-License-Identifier: Apache-2.0

package podplan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/podstate"
)

// NoWorkload is the error of a snapshot without the workload of a kind.
func NoWorkload(kind string) error {
	return fmt.Errorf("the Snapshot has no Set; give it the %s to plan for", kind)
}

// ErrNoTime is the error of a snapshot without a time.
var ErrNoTime = errors.New("Snapshot.Now is zero, and would be written into pods; set it to the time to plan for, time.Now() for example")

// object is what a snapshot holds pointers of.
type object interface {
	comparable
	metav1.Object
}

// shownObjects is how many objects an error names.
const shownObjects = 3

// Usable returns the objects that are of the namespace of the workload and belong to it. The others, and nil ones, are left out,
// and a problem says so. The argument field names the field that they stand in, and wanted says what they should be like. The
// given slice is not changed.
func Usable[T object](p *Planner, objects []T, field, wanted string, belongs func(T) bool) []T {
	namespace := p.Workload.Object.GetNamespace()
	useless := func(object T) bool {
		var none T
		return object == none || object.GetNamespace() != namespace || !belongs(object)
	}
	if !slices.ContainsFunc(objects, useless) {
		return objects
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
	p.UpdateProblem(fmt.Errorf("%s: %s left out; want objects of namespace %s %s", field, FirstNames(names), namespace, wanted))
	return usable
}

// FirstNames lists the first names of objects, as errors name them, and how many more
// there are. The given slice is not changed.
func FirstNames(names []string) string {
	first := names[:min(len(names), shownObjects)]
	if more := len(names) - len(first); more > 0 {
		first = append(slices.Clone(first), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(first, ", ")
}

// OwnedBy tells whether an object names the UID as an owner, whether or not it controls it.
func OwnedBy(object metav1.Object, owner types.UID) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == owner })
}

// controlledBy tells whether the UID is that of the controller of an object. An object
// that only names it as an owner, so that it is collected with it, is another controller's.
func controlledBy(object metav1.Object, uid types.UID) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.UID == uid
}

// Controlled returns the objects that the workload controls. Those that only name it as an
// owner are left out without a report: they are not wrong. All others that Usable
// leaves out are reported as there. The given slice is not changed.
func Controlled[T object](p *Planner, objects []T, field, wanted string) []T {
	uid, namespace := p.Workload.Object.GetUID(), p.Workload.Object.GetNamespace()
	var none T
	if !slices.ContainsFunc(objects, func(object T) bool {
		return object == none || object.GetNamespace() != namespace || !controlledBy(object, uid)
	}) {
		return objects // as the caches give them
	}
	owned := Usable(p, objects, field, wanted, func(object T) bool { return OwnedBy(object, uid) })
	return without(owned, func(object T) bool { return !controlledBy(object, uid) })
}

// without returns the objects but some; the given slice if there are none.
func without[T any](objects []T, some func(T) bool) []T {
	if !slices.ContainsFunc(objects, some) {
		return objects
	}
	return slices.DeleteFunc(slices.Clone(objects), some)
}

// Selector reads the selector of a workload.
func Selector(selector *metav1.LabelSelector) (labels.Selector, error) {
	if selector == nil {
		return nil, errors.New("spec.selector: is missing; it must select the labels of the template")
	}
	read, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, err
	}
	if read.Empty() {
		return nil, errors.New("spec.selector: is empty; it must select the labels of the template")
	}
	return read, nil
}

// ReadSelector reads the selector of the workload. The error says what is wrong with it.
func (p *Planner) ReadSelector() (err error) {
	p.Selector, err = Selector(p.Workload.Selector)
	return err
}

// Selects returns an error unless the selector matches a template as pods get it. Otherwise they would be
// released as soon as they are created or updated.
func (p *Planner) Selects(template *corev1.PodTemplateSpec) error {
	if p.Selector.Matches(labels.Set(podstate.Unowned(template.Labels))) {
		return nil
	}
	if p.Selector.Matches(labels.Set(template.Labels)) {
		return fmt.Errorf("spec.selector %q selects by a label that controllers own, and no pod gets from the template; select by others", p.Selector)
	}
	return fmt.Errorf("spec.selector %q does not match the labels of the template, %q; make them match", p.Selector, labels.FormatLabels(template.Labels))
}

// Unfit reports why the revision that pods are to be updated to can have none, and
// returns it as what they wait for.
func (p *Planner) Unfit(err error) *rollout.Reason {
	p.UpdateProblem(err)
	return &rollout.Reason{Rule: rollout.RuleRevision, Message: err.Error()}
}

// UseHistory plans with the usable revisions of a history, which it returns: those that
// the workload controls, and those without a controller. Others that name it as an owner,
// which wanted says, and those that cannot be used are left out without a report.
func (p *Planner) UseHistory(revisions []*appsv1.ControllerRevision, wanted string) []*appsv1.ControllerRevision {
	uid := p.Workload.Object.GetUID()
	named := Usable(p, revisions, "Snapshot.Revisions", wanted+", or without a controller", func(r *appsv1.ControllerRevision) bool {
		return OwnedBy(r, uid) || metav1.GetControllerOfNoCopy(r) == nil
	})
	p.History = revision.Usable(without(named, func(r *appsv1.ControllerRevision) bool {
		controller := metav1.GetControllerOfNoCopy(r)
		return controller != nil && controller.UID != uid
	}))
	return p.History
}
