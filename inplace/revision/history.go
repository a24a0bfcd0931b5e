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

// New returns the revision of a workload for a pod template (CR3), to be
// created in the workload's namespace: labelled as the template's pods plus
// HashLabel, annotated and owned as the workload, with the given number (see
// NextNumber). A nil collisionCount counts as 0.
//
// When the API server answers that the name exists, with data that is not
// Equal, the workload's collision count is raised by one and New called again.
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

// Sort orders revisions from the oldest to the newest: by number, then by
// creation time, then by name (CR4).
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
// given ones: the highest plus one, and 1 where there is none.
func NextNumber(revisions []*appsv1.ControllerRevision) int64 {
	var highest int64
	for _, r := range revisions {
		highest = max(highest, r.Revision)
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
	Action Action
	// Revision is the workload's update revision as it must stand: an existing
	// one (Use), a copy of an existing one with the new number (Raise), or the
	// wanted one (Create).
	Revision *appsv1.ControllerRevision
}

// Next decides how the wanted revision, made by New from today's template with
// the next number, enters the history (CR5). Of several revisions that are
// equal to it, the newest one counts. The history may come in any order and is
// not changed.
//
// A revision that cannot be read is passed over as long as another one is
// equal. Where none is, Next returns an error that names the unreadable ones:
// a new revision would move every pod, so damage is looked at first.
func Next(history []*appsv1.ControllerRevision, wanted *appsv1.ControllerRevision) (Decision, error) {
	sorted := slices.Clone(history)
	Sort(sorted)
	find := finder{wanted: wanted}
	for i, r := range slices.Backward(sorted) {
		equal, err := find.equal(r)
		switch {
		case err != nil:
			return Decision{}, err
		case equal && i == len(sorted)-1:
			return Decision{Action: Use, Revision: r}, nil
		case equal:
			raised := r.DeepCopy()
			raised.Revision = max(wanted.Revision, NextNumber(sorted))
			return Decision{Action: Raise, Revision: raised}, nil
		}
	}
	if err := errors.Join(find.unreadable...); err != nil {
		return Decision{}, fmt.Errorf("no revision is known to be equal to the template, and some cannot be read; "+
			"repair or delete them: %w", err)
	}
	return Decision{Action: Create, Revision: wanted}, nil
}

// finder compares many revisions with one, which it decodes once at most.
type finder struct {
	wanted     *appsv1.ControllerRevision
	template   *corev1.PodTemplateSpec
	unreadable []error
}

// equal fails only when the wanted revision itself cannot be read.
func (f *finder) equal(r *appsv1.ControllerRevision) (bool, error) {
	if bytes.Equal(r.Data.Raw, f.wanted.Data.Raw) {
		return true, nil
	}
	if f.template == nil {
		var err error
		if f.template, err = decode(f.wanted); err != nil {
			return false, err
		}
	}
	template, err := decode(r)
	if err != nil {
		f.unreadable = append(f.unreadable, err)
		return false, nil
	}
	return equality.Semantic.DeepEqual(template, f.template), nil
}

// Surplus returns the revisions to delete, oldest first, so that at most limit
// of those that nothing uses remain (CR7). A revision is in use when live says
// so for its name: the current and the update revision, and those of existing
// pods. A negative limit counts as 0. The given slice is not changed.
func Surplus(revisions []*appsv1.ControllerRevision, live func(name string) bool, limit int32) []*appsv1.ControllerRevision {
	var unused []*appsv1.ControllerRevision
	for _, r := range revisions {
		if !live(r.Name) {
			unused = append(unused, r)
		}
	}
	Sort(unused)
	return unused[:max(0, len(unused)-int(max(0, limit)))]
}
