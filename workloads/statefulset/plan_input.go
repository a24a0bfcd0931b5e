package statefulset

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// checkInput returns the error of a snapshot that no plan can be made of. It
// leaves out what does not belong to the StatefulSet, and reports it. Pods that
// have a name of its pods and another controller stay: they take the name.
func (p *planner) checkInput() error {
	if p.Snapshot == nil || p.Set == nil {
		return podplan.NoWorkload("StatefulSet")
	}
	if p.Now.IsZero() {
		return podplan.ErrNoTime
	}
	s, uid := *p.Snapshot, p.Set.UID
	var errs [2]error
	s.Pods, errs[0] = podplan.Usable(s.Pods, s.Set.Namespace, "Snapshot.Pods", "named after the StatefulSet and an ordinal",
		func(pod *corev1.Pod) bool { _, ok := ordinalOf(s.Set.Name, pod.Name); return ok })
	s.Revisions, errs[1] = podplan.Usable(s.Revisions, s.Set.Namespace, "Snapshot.Revisions", "that name the StatefulSet as an owner, or that nobody controls",
		func(r *appsv1.ControllerRevision) bool {
			return podplan.OwnedBy(r, uid) || metav1.GetControllerOfNoCopy(r) == nil
		})
	for _, err := range errs {
		if err != nil {
			p.problem(v1beta1.StatefulSetConditionFailedUpdatePod, err)
		}
	}
	for name, claim := range s.Claims {
		if claim == nil {
			s.Claims = maps.Clone(s.Claims)
			delete(s.Claims, name)
		}
	}
	s.Revisions = revision.Usable(s.Revisions)
	p.Snapshot = &s
	return nil
}
