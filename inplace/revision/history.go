// SPDX-License-Identifier: Apache-2.0

package revision

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// HashLabel holds the hash of a ControllerRevision.
const HashLabel = "controller.kubernetes.io/hash"

// New returns the revision of a workload for a pod template (CS-CR3), to be
// created in the workload's namespace. It is labelled as the template's pods plus
// HashLabel, annotated and owned as the workload, with the given number (see
// NextNumber). A nil collisionCount counts as 0.
//
// If the API server answers that the name exists, with data that is not Equal,
// raise the workload's collision count by one. Then call New again.
func New(
	owner metav1.Object, kind schema.GroupVersionKind, template *corev1.PodTemplateSpec,
	number int64, collisionCount *int32,
) (*appsv1.ControllerRevision, error) {
	data, err := Data(template)
	if err != nil {
		return nil, fmt.Errorf("revision of %s %s/%s: %w", kind.Kind, owner.GetNamespace(), owner.GetName(), err)
	}
	hash := Hash(data, collisionCount)
	labels := maps.Clone(template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[HashLabel] = hash
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       owner.GetNamespace(),
			Name:            Name(owner.GetName(), hash),
			Labels:          labels,
			Annotations:     maps.Clone(owner.GetAnnotations()),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)},
		},
		Data:     runtime.RawExtension{Raw: data},
		Revision: number,
	}, nil
}

// Usable returns the revisions of a history that decisions are made by. It leaves
// out nil ones, and those without a controller that cannot be read. They merely
// match a selector, and it is not known whose they are. The given slice is not changed.
func Usable(history []*appsv1.ControllerRevision) []*appsv1.ControllerRevision {
	useless := func(r *appsv1.ControllerRevision) bool {
		if r == nil {
			return true
		}
		if metav1.GetControllerOfNoCopy(r) != nil {
			return false
		}
		_, err := decode(r)
		return err != nil
	}
	if !slices.ContainsFunc(history, useless) {
		return history
	}
	return slices.DeleteFunc(slices.Clone(history), useless)
}

// Sort orders revisions from the oldest to the newest: by number, then by
// creation time, then by name (CS-CR4). None of them may be nil.
func Sort(revisions []*appsv1.ControllerRevision) {
	slices.SortStableFunc(revisions, func(a, b *appsv1.ControllerRevision) int {
		return cmp.Or(
			cmp.Compare(a.Revision, b.Revision),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// NextNumber returns the number of a revision that is newer than all the
// given ones: the highest plus one, and 1 if there is none.
func NextNumber(revisions []*appsv1.ControllerRevision) int64 {
	var highest int64
	for _, r := range revisions {
		if r != nil {
			highest = max(highest, r.Revision)
		}
	}
	return highest + 1
}

// Action is what brings the history of a workload up to date.
type Action string

const (
	// Use: the newest revision holds the template; nothing is written.
	Use Action = "Use"
	// Raise: an older revision holds the template; its number is raised. This
	// is a rollback.
	Raise Action = "Raise"
	// Create: no revision holds the template.
	Create Action = "Create"
)

// Decision is the outcome of Next.
type Decision struct {
	// Action says what to do with Revision.
	Action Action
	// Revision is the workload's update revision as it must stand. It is an existing
	// one (Use), a copy of an existing one with the new number (Raise), or the
	// wanted one (Create).
	Revision *appsv1.ControllerRevision
}

// String names the revision, its number and what is done, as in
// "Raise demo-7cb569c9cc to 3".
func (d Decision) String() string {
	switch {
	case d.Revision == nil:
		return "no revision"
	case d.Action == Raise:
		return fmt.Sprintf("Raise %s to %d", d.Revision.Name, d.Revision.Revision)
	default:
		return fmt.Sprintf("%s %s (%d)", d.Action, d.Revision.Name, d.Revision.Revision)
	}
}

// Next decides how the wanted revision, made by New from today's template with
// the next number, enters the history (CS-CR5). Of several revisions that are
// equal to it, the newest one counts. The history may come in any order and is
// not changed.
//
// A revision that cannot be read is skipped, unless it has the wanted name and
// a controller. That name is a hash over the data it had, so it is the wanted one.
// Decision.Revision is a copy of it with the wanted data. A wanted revision that
// is nil or cannot be read is an error.
func Next(history []*appsv1.ControllerRevision, wanted *appsv1.ControllerRevision) (Decision, error) {
	if wanted == nil {
		return Decision{}, errors.New("the wanted revision is nil; make it by New from the present template")
	}
	find := finder{wanted: wanted}
	return next(Usable(history), wanted, find.equal)
}

// NextOf is Next for revisions whose data is no pod template. holds tells of each, none
// of which is nil, whether it holds what the wanted one does. The history may come in any
// order and is not changed.
func NextOf(history []*appsv1.ControllerRevision, wanted *appsv1.ControllerRevision, holds func(*appsv1.ControllerRevision) bool) Decision {
	d, _ := next(history, wanted, func(r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
		if !holds(r) {
			return nil, nil
		}
		return r, nil
	})
	return d
}

// next decides by equal, which returns a revision that is known if it is equal
// to the wanted one, otherwise nil.
func next(
	history []*appsv1.ControllerRevision, wanted *appsv1.ControllerRevision, equal func(*appsv1.ControllerRevision) (*appsv1.ControllerRevision, error),
) (Decision, error) {
	sorted := slices.Clone(history)
	Sort(sorted)
	for i, r := range slices.Backward(sorted) {
		found, err := equal(r)
		switch {
		case err != nil:
			return Decision{}, err
		case found != nil && i == len(sorted)-1:
			return Decision{Action: Use, Revision: found}, nil
		case found != nil:
			raised := found.DeepCopy()
			raised.Revision = max(wanted.Revision, NextNumber(sorted))
			return Decision{Action: Raise, Revision: raised}, nil
		}
	}
	return Decision{Action: Create, Revision: wanted}, nil
}

// finder compares many revisions with one, which it decodes once at most.
type finder struct {
	wanted   *appsv1.ControllerRevision
	template *corev1.PodTemplateSpec
}

// equal returns the known revision if it is equal to the
// wanted one, otherwise nil. It fails only when the wanted revision itself cannot
// be read.
func (f *finder) equal(r *appsv1.ControllerRevision) (*appsv1.ControllerRevision, error) {
	if bytes.Equal(r.Data.Raw, f.wanted.Data.Raw) {
		return r, nil
	}
	if f.template == nil {
		var err error
		if f.template, err = decode(f.wanted); err != nil {
			return nil, err
		}
	}
	template, err := decode(r)
	switch {
	case err == nil && equality.Semantic.DeepEqual(template, f.template):
		return r, nil
	case err != nil && r.Name == f.wanted.Name && metav1.GetControllerOfNoCopy(r) != nil:
		known := r.DeepCopy()
		known.Data = f.wanted.Data
		return known, nil
	}
	return nil, nil
}

// Surplus returns the revisions to delete, oldest first, so that at most limit
// of those that nothing uses remain (CS-CR7). A revision is in use when live says
// so for its name: the current and the update revision, and those of existing
// pods. A negative limit counts as 0. The given slice is not changed.
func Surplus(revisions []*appsv1.ControllerRevision, live func(name string) bool, limit int32) []*appsv1.ControllerRevision {
	var unused []*appsv1.ControllerRevision
	for _, r := range revisions {
		if r != nil && !live(r.Name) {
			unused = append(unused, r)
		}
	}
	Sort(unused)
	return unused[:max(0, len(unused)-int(max(0, limit)))]
}
