// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

func storage(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

// growsTo has the claims of a set grow to a size.
func growsTo(size string) setEdit {
	return func(s *v1beta1.StatefulSetSpec) {
		s.VolumeClaimUpdateStrategy = &v1beta1.StatefulSetVolumeClaimUpdateStrategy{Type: v1beta1.OnPodRollingUpdateVolumeClaimUpdateStrategyType}
		s.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To("fast"), Resources: corev1.VolumeResourceRequirements{Requests: storage(size)}}}}
	}
}

// claimOf is the claim of a pod, of the class fast, with the conditions that it has.
func claimOf(pod, asks, has string, conditions ...corev1.PersistentVolumeClaimConditionType) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-" + pod}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: ptr.To("fast"), Resources: corev1.VolumeResourceRequirements{Requests: storage(asks)}}}
	claim.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound, Capacity: storage(has)}
	for _, c := range conditions {
		claim.Status.Conditions = append(claim.Status.Conditions, corev1.PersistentVolumeClaimCondition{Type: c, Status: corev1.ConditionTrue})
	}
	return claim
}

// withClaims is a state whose pods mount claims.
func withClaims(set *v1beta1.StatefulSet, pods []*corev1.Pod, claims ...*corev1.PersistentVolumeClaim) *State {
	s := testState(set)
	for _, pod := range pods {
		s.Pods[pod.Name] = at(pod, func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-" + p.Name}}}}
		})
	}
	for _, claim := range claims {
		s.Claims[claim.Name] = claim
	}
	return s
}

func growing() *Past {
	past := NewPast()
	past.StatefulSets.ResizeClaims = true
	return past
}

// TestClaimsThatDoNotGrow judges pods beside those whose claims do not grow. (STS-42, STS-43)
func TestClaimsThatDoNotGrow(t *testing.T) {
	const failed = corev1.PersistentVolumeClaimControllerResizeError
	p0, p1 := testPod("web-0", "a"), testPod("web-1", "a")
	partition := rolling(func(r *v1beta1.RollingUpdateStatefulSetStrategy) { r.Partition = ptr.To(int32(1)) })
	for _, tt := range []struct {
		name       string
		set        *v1beta1.StatefulSet
		c0, c1     *corev1.PersistentVolumeClaim
		expandable []string
		updated    *corev1.Pod
		want       []Invariant
	}{
		{"STS-42: a class that lets no volume grow keeps its own pod alone", statefulSet(2, parallel, growsTo("20Gi")), claimOf("web-0", "20Gi", "20Gi"), claimOf("web-1", "10Gi", "10Gi"), nil, p0, nil},
		{"STS-42: one that does has its turn first", statefulSet(2, parallel, growsTo("20Gi")), claimOf("web-0", "20Gi", "20Gi"), claimOf("web-1", "10Gi", "10Gi"), []string{"fast"}, p0, []Invariant{Availability}},
		{"STS-41: one on its way takes a place", statefulSet(2, parallel, growsTo("20Gi"), partition), claimOf("web-0", "20Gi", "10Gi"), claimOf("web-1", "20Gi", "20Gi"), []string{"fast"}, p1, []Invariant{Availability}},
		{"STS-43: one that fails on its way to what its template asks for does, too", statefulSet(2, parallel, growsTo("20Gi"), partition), claimOf("web-0", "20Gi", "10Gi", failed), claimOf("web-1", "20Gi", "20Gi"), []string{"fast"}, p1, []Invariant{Availability}},
		{"STS-43: one that fails on its way to more does not", statefulSet(2, parallel, growsTo("20Gi"), partition), claimOf("web-0", "50Gi", "10Gi", failed), claimOf("web-1", "20Gi", "20Gi"), []string{"fast"}, p1, nil},
		{"STS-41: one on its way to more does", statefulSet(2, parallel, growsTo("20Gi"), partition), claimOf("web-0", "50Gi", "10Gi"), claimOf("web-1", "20Gi", "20Gi"), []string{"fast"}, p1, []Invariant{Availability}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known := withClaims(tt.set, pods(p0, p1), tt.c0, tt.c1)
			known.Expandable = tt.expandable
			pod := known.Pods[tt.updated.Name]
			w := &Write{Verb: "delete", Resource: "pods", Before: pod, After: at(pod, going), Truth: known, Known: known, Observed: known}
			violations := growing().StatefulSet(w)
			if diff := cmp.Diff(tt.want, broken(violations)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", violations, diff)
			}
		})
	}
}

// TestPodsBehindOneThatCannotGrow: STS-42. A pod may not serve, and not be updated since its claim cannot grow. When all has settled,
// OrderedReady and scaleStrategy hold pods up behind such a pod, and behind no other.
func TestPodsBehindOneThatCannotGrow(t *testing.T) {
	for _, tt := range []struct {
		name       string
		set        *v1beta1.StatefulSet
		revision   string
		expandable []string
		want       []Invariant
	}{
		{"OrderedReady", statefulSet(2, growsTo("20Gi")), "a", nil, nil},
		{"the claim can grow", statefulSet(2, growsTo("20Gi")), "a", []string{"fast"}, []Invariant{Settled}},
		{"the pod has the update", statefulSet(2, growsTo("20Gi")), "b", nil, []Invariant{Settled}},
		{"Parallel, and nothing limits how many start", statefulSet(2, growsTo("20Gi"), parallel), "a", nil, []Invariant{Settled}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.set.Status.Replicas = 1
			tt.set.Status.Conditions = []appsv1.StatefulSetCondition{{Type: v1beta1.StatefulSetConditionFailedUpdatePod, Status: corev1.ConditionTrue}}
			s := withClaims(tt.set, pods(at(testPod("web-0", tt.revision), notReady)), claimOf("web-0", "10Gi", "10Gi"))
			s.Expandable = tt.expandable
			var v violations
			newStatefulSetJudge(&v, &Write{Truth: s, Known: s, Observed: s}, tt.set, growing()).checkConverged(s)
			settled := v[:0]
			for _, violation := range v {
				if violation.Invariant == Settled {
					settled = append(settled, violation)
				}
			}
			if diff := cmp.Diff(tt.want, broken(settled)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", v, diff)
			}
		})
	}
}

// TestFileSystemsThatWait: STS-45. HeldUp says that file systems grow when pods start anew, or something else that holds the set up.
func TestFileSystemsThatWait(t *testing.T) {
	const pending = corev1.PersistentVolumeClaimFileSystemResizePending
	onDelete := func(s *v1beta1.StatefulSetSpec) { s.VolumeClaimUpdateStrategy = nil }
	for _, tt := range []struct {
		name   string
		set    *v1beta1.StatefulSet
		claim  *corev1.PersistentVolumeClaim
		heldUp string // what the condition says
		want   []Invariant
	}{
		{"it is named", statefulSet(1, growsTo("20Gi")), claimOf("web-0", "20Gi", "10Gi", pending), "claim data-web-0: delete the pod", nil},
		{"nothing says so", statefulSet(1, growsTo("20Gi")), claimOf("web-0", "20Gi", "10Gi", pending), "", []Invariant{Status}},
		{"another one is named", statefulSet(1, growsTo("20Gi")), claimOf("web-0", "20Gi", "10Gi", pending), "claim data-web-1: delete the pod", []Invariant{Status}},
		{"it has enough", statefulSet(1, growsTo("20Gi")), claimOf("web-0", "30Gi", "20Gi", pending), "", nil},
		{"it has enough, and is named", statefulSet(1, growsTo("20Gi")), claimOf("web-0", "30Gi", "20Gi", pending), "claim data-web-0: delete the pod", []Invariant{Status}},
		{"claims do not grow", statefulSet(1, growsTo("20Gi"), onDelete), claimOf("web-0", "20Gi", "10Gi", pending), "", nil},
	} {
		tt.set.Status.Replicas = 1
		if tt.heldUp != "" {
			tt.set.Status.Conditions = []appsv1.StatefulSetCondition{{Type: heldUp, Status: corev1.ConditionTrue, Message: tt.heldUp}}
		}
		s := withClaims(tt.set, pods(testPod("web-0", "b")), tt.claim)
		s.Expandable = []string{"fast"}
		var v violations
		j := newStatefulSetJudge(&v, &Write{Truth: s, Known: s, Observed: s}, tt.set, growing())
		j.checkSaysMount(s)
		j.checkConverged(s)
		if diff := cmp.Diff(tt.want, broken(v)); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, v, diff)
		}
	}
}

// TestRevisionOfAnotherManager: CT-9. While the revision of the template is refused, new pods are of the current one, although
// another manager has got the revision through meanwhile.
func TestRevisionOfAnotherManager(t *testing.T) {
	refused := []Refusal{{Verb: "create", Resource: "controllerrevisions"}}
	for _, tt := range []struct {
		name    string
		refused []Refusal
		want    []Invariant
	}{
		{"it was refused", refused, nil},
		{"something else was", []Refusal{{Verb: "create", Resource: "pods"}}, []Invariant{Partition}},
		{"it was written, and the answer lost", nil, []Invariant{Partition}},
	} {
		set := statefulSet(3)
		truth, known := testState(set, testPod("web-0", "a"), testPod("web-1", "a")), testState(set, testPod("web-0", "a"), testPod("web-1", "a"))
		delete(known.Revisions, "web-b")
		past := NewPast()
		past.becomesCurrent(set.UID, "a")
		w := &Write{Verb: "create", Resource: "pods", After: at(testPod("web-2", "a"), inNormal), Refused: tt.refused, Truth: truth, Known: known, Observed: known}
		violations := past.StatefulSet(w)
		if diff := cmp.Diff(tt.want, broken(violations)); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, violations, diff)
		}
	}
}

// TestReplacementBehindAPreparedPod: STS-36. OrderedReady replaces a pod that has ended behind one that is prepared for its deletion and
// serves as well as before.
func TestReplacementBehindAPreparedPod(t *testing.T) {
	held := labelled("lifecycle.apps.kruise.io/state", "PreparingDelete")
	for _, tt := range []struct {
		name  string
		lower *corev1.Pod
		want  []Invariant
	}{
		{"it serves", at(testPod("web-0", "b"), held), nil},
		{"it does not", at(testPod("web-0", "b"), held, notReady), []Invariant{Order}},
		{"another hook holds it", at(testPod("web-0", "b"), labelled("lifecycle.apps.kruise.io/state", "PreparingNormal")), []Invariant{Order}},
	} {
		ended := at(testPod("web-1", "b"), failed)
		known := testState(statefulSet(2), tt.lower, ended)
		past := NewPast()
		past.StatefulSets.PreNormal = true
		violations := past.StatefulSet(&Write{Verb: "delete", Resource: "pods", Before: ended, After: at(ended, going), Truth: known, Known: known, Observed: known})
		if diff := cmp.Diff(tt.want, broken(violations)); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, violations, diff)
		}
	}
}

// TestRevisionOfAnotherDaemonSetManager: CT-9. The same holds for DaemonSets.
func TestRevisionOfAnotherDaemonSetManager(t *testing.T) {
	set := &v1alpha1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set"}, Spec: v1alpha1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: testTemplate}}
	known := testState(set)
	delete(known.Revisions, "web-b")
	for _, tt := range []struct {
		refused []Refusal
		want    string
	}{{[]Refusal{{Verb: "create", Resource: "controllerrevisions"}}, ""}, {nil, "b"}} {
		j := newDaemonSetJudge(&violations{}, &Write{Refused: tt.refused, Truth: testState(set), Known: known, Observed: known}, set, NewPast())
		if j.update != tt.want {
			t.Errorf("refused %v: the update revision is %q, want %q", tt.refused, j.update, tt.want)
		}
	}
}
