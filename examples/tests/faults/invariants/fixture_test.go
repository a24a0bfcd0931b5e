// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// scenario is a change and what is wrong with it.
type scenario struct {
	name  string
	edits []func(*spec)   // of the spec; each is one of those that count
	there []metav1.Object // besides the workload
	old   metav1.Object   // nil if the object is new
	new   metav1.Object   // nil if it is gone
	gap   bool
	wrong []invariants.Invariant
}

// spec is that of a CloneSet or of a StatefulSet.
type spec struct {
	replicas, partition int32
	reserved            []int
	image               string
	paused, recreate    bool
	ordered, deletes    bool
	surge, unavailable  int
	marked              []string
	preDelete, inPlace  *lifecyclev1alpha1.LifecycleHook
	unhooked            bool
}

// base is of three pods, of which one may be unavailable, updated in place.
func base() *spec { return &spec{replicas: 3, image: "web:1", unavailable: 1} }

func (s *spec) template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: s.image}}},
	}
}

var selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}

// revisionOf is the name of the revision of the template with an image.
func revisionOf(image string) string { return strings.Replace(image, ":", "-", 1) }

// revision is that of the template.
func (s *spec) revision(t *testing.T) *appsv1.ControllerRevision {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": s.template()}})
	if err != nil {
		t.Fatal(err)
	}
	name := revisionOf(s.image)
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("revision-" + name), OwnerReferences: []metav1.OwnerReference{ofSet}},
		Data:       runtime.RawExtension{Raw: raw},
	}
}

func (s *spec) claims() []corev1.PersistentVolumeClaim {
	return []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
}

func (s *spec) lifecycle() *lifecyclev1alpha1.Lifecycle {
	return &lifecyclev1alpha1.Lifecycle{PreDelete: s.preDelete, InPlaceUpdate: s.inPlace}
}

func (s *spec) cloneSet(meta metav1.ObjectMeta) metav1.Object {
	set := &v1alpha1.CloneSet{ObjectMeta: meta, Spec: v1alpha1.CloneSetSpec{
		Replicas: &s.replicas, Selector: selector, Template: s.template(), VolumeClaimTemplates: s.claims(), Lifecycle: s.lifecycle(),
		ScaleStrategy: v1alpha1.CloneSetScaleStrategy{PodsToDelete: s.marked},
		UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{
			Type: v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, Paused: s.paused, Partition: new(intstr.FromInt32(s.partition)),
			MaxUnavailable: new(intstr.FromInt(s.unavailable)), MaxSurge: new(intstr.FromInt(s.surge)),
		},
	}}
	if s.recreate {
		set.Spec.UpdateStrategy.Type = v1alpha1.RecreateCloneSetUpdateStrategyType
	}
	return set
}

func (s *spec) statefulSet(meta metav1.ObjectMeta) metav1.Object {
	rolling := &v1beta1.RollingUpdateStatefulSetStrategy{
		PodUpdatePolicy: v1beta1.InPlaceIfPossiblePodUpdateStrategyType, Paused: s.paused, Partition: &s.partition,
		MaxUnavailable: new(intstr.FromInt(s.unavailable)),
	}
	set := &v1beta1.StatefulSet{ObjectMeta: meta, Spec: v1beta1.StatefulSetSpec{
		Replicas: &s.replicas, Selector: selector, Template: s.template(), VolumeClaimTemplates: s.claims(), Lifecycle: s.lifecycle(), ReserveOrdinalRanges: reservedOrdinals(s.reserved),
		PodManagementPolicy: appsv1.ParallelPodManagement,
		UpdateStrategy:      v1beta1.StatefulSetUpdateStrategy{RollingUpdate: rolling},
	}}
	if s.ordered {
		set.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
	}
	if s.recreate {
		rolling.PodUpdatePolicy = v1beta1.RecreatePodUpdateStrategyType
	}
	if s.deletes {
		set.Spec.PersistentVolumeClaimRetentionPolicy = &v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
		}
	}
	return set
}

const setUID, strangerUID types.UID = "set", "stranger"

var ofSet = metav1.OwnerReference{Name: "web", UID: setUID, Controller: new(true)}

// check plays a scenario for a kind: the base spec has settled with what is there, and then the edited ones count too.
func (s scenario) check(t *testing.T, kind func(*spec, metav1.ObjectMeta) metav1.Object) {
	t.Helper()
	j := NewJudge(strangerUID)
	generation := func(n int, of *spec) Change {
		j.See([]Change{{New: of.revision(t)}}, false)
		return Change{New: kind(of, metav1.ObjectMeta{Name: "web", UID: setUID, Generation: int64(n)})}
	}
	j.See([]Change{generation(1, base())}, false)
	for _, object := range s.there {
		j.See([]Change{{New: object}}, true)
	}
	if s.old != nil {
		j.See([]Change{{New: s.old}}, true)
	}
	j.Settled()
	for i, edit := range s.edits {
		of := base()
		edit(of)
		j.See([]Change{generation(2+i, of)}, false)
	}
	var wrong []invariants.Invariant
	for _, violation := range j.See([]Change{{Old: s.old, New: s.new}}, s.gap) {
		t.Logf("%s: %v", s.name, violation)
		wrong = append(wrong, violation.Invariant)
	}
	slices.Sort(wrong)
	if diff := cmp.Diff(s.wrong, slices.Compact(wrong)); diff != "" {
		t.Errorf("%s: violated (-want +got):\n%s", s.name, diff)
	}
}

const revisionLabel = "controller-revision-hash"

// pod is one in service, of the workload.
func pod(name string, edits ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), OwnerReferences: []metav1.OwnerReference{ofSet},
			Labels: map[string]string{
				"app": "web", revisionLabel: revisionOf("web:1"),
				v1alpha1.CloneSetInstanceIDLabel: strings.TrimPrefix(name, "web-"), appsv1.StatefulSetPodNameLabel: name,
				appsv1.PodIndexLabel: strings.TrimPrefix(name, "web-"), "lifecycle.apps.kruise.io/state": "Normal",
			},
		},
		Spec: corev1.PodSpec{NodeName: "node-0", Hostname: name, Containers: []corev1.Container{{Name: "main", Image: "web:1"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Image: "web:1", Ready: true}},
		},
	}
	for _, edit := range edits {
		edit(p)
	}
	return p
}

// out is not in service.
func out(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }

// aside is about to be updated in place.
func aside(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse})
}

func leaving(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }

func unscheduled(p *corev1.Pod) { p.Spec.NodeName = "" }

// at has an image, and runs it.
func at(image string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		told(image)(p)
		p.Status.ContainerStatuses[0].Image = image
	}
}

// told has an image that does not run yet.
func told(image string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Image, p.Labels[revisionLabel] = image, revisionOf(image) }
}

func labelled(key string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[key] = "yes" }
}

func mounting(claim string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}
	}
}

func claim(name string, edits ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), OwnerReferences: []metav1.OwnerReference{ofSet},
		Labels: map[string]string{v1alpha1.CloneSetInstanceIDLabel: strings.TrimPrefix(name, "data-web-")},
	}}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func hold(label string) *lifecyclev1alpha1.LifecycleHook {
	return &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{label: "yes"}}
}

func ofPod(name string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) {
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: name, UID: types.UID(name)}}
	}
}

// objects and breaks are for lines that fit.
func objects(all ...metav1.Object) []metav1.Object { return all }

func breaks(all ...invariants.Invariant) []invariants.Invariant { return all }

func edits(all ...func(*spec)) []func(*spec) { return all }

// Edits of specs.
func web2(s *spec)      { s.image = "web:2" }
func five(s *spec)      { s.replicas = 5 }
func two(s *spec)       { s.replicas = 2 }
func held(s *spec)      { s.image, s.partition = "web:2", 3 }
func stopped(s *spec)   { s.image, s.paused = "web:2", true }
func recreate2(s *spec) { s.image, s.recreate = "web:2", true }

func reservedOrdinals(of []int) (list []intstr.IntOrString) {
	for _, ordinal := range of {
		list = append(list, intstr.FromInt32(int32(ordinal)))
	}
	return list
}
