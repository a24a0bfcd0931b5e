// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// otherSet is a SidecarSet beside, with a controller of its own.
var otherSet = &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "gate"}, Spec: v1alpha1.SidecarSetSpec{
	Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"gate": "open"}},
	Containers: []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "gate", Image: "gate:1"},
		UpgradeStrategy: v1alpha1.SidecarContainerUpgradeStrategy{UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: "empty:2"}}},
}}

// injecting has those who create pods act, into which a webhook injects with these features.
type injecting struct{ injection.Features }

// populate creates pods.
func (i injecting) populate(u *simulation.User, r *rand.Rand) {
	for n := range 3 + r.IntN(3) {
		i.createPod(u, r, fmt.Sprint("web-", n))
	}
}

// createPod creates a pod, which the webhook may miss.
func (i injecting) createPod(u *simulation.User, r *rand.Rand, name string) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: simulation.Web.Namespace, Name: name,
		Labels: map[string]string{"app": "web", "ring": []string{"a", "b"}[r.IntN(2)]}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:1"}}}}
	if r.IntN(3) == 0 {
		pod.Labels["gate"] = "open"
	}
	if r.IntN(2) == 0 {
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionTrue}}
	}
	sets, missed := []*v1alpha1.SidecarSet{otherSet}, r.IntN(10) == 0
	if set, ok := u.Workload().(*v1alpha1.SidecarSet); ok && !missed {
		sets = append(sets, set)
	}
	result, err := injection.Inject(injection.Input{Pod: pod, Namespace: u.Namespace(), SidecarSets: sets, Revisions: u.Revisions(), Features: i.Features, Now: time.Now()})
	if err != nil {
		return // the webhook refuses it
	}
	if r.IntN(8) == 0 { // of a static one, which an earlier webhook injected into
		result.Pod.Spec.NodeName = "static"
		metav1.SetMetaDataAnnotation(&result.Pod.ObjectMeta, corev1.MirrorPodAnnotationKey, "hash-of-the-file")
	}
	u.CreatePod(result.Pod)
}

// actOthers is what those do in a step who have pods, and update them in place, and the
// controllers of other SidecarSets.
func (i injecting) actOthers(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(8); {
	case n < 3 || pod == nil:
		name := fmt.Sprint("web-", r.IntN(6))
		if !slices.ContainsFunc(u.Pods(), func(p *corev1.Pod) bool { return p.Name == name }) {
			i.createPod(u, r, name)
		}
	case n < 5:
		updateInPlace(u, pod, []string{"main:1", "main:2", "main:3", "main:bad", "main:nopull"}[r.IntN(5)], int32(r.IntN(2)*10))
	case n < 7:
		finishUpdate(u, pod)
	default:
		updateOther(u, pod, fmt.Sprint("gate:", r.IntN(4)))
	}
}

// updateInPlace begins an update of a pod by its workload, as CloneSets do.
func updateInPlace(u *simulation.User, pod *corev1.Pod, image string, grace int32) {
	p := &podpatch.Patch{}
	update := &inplace.Update{Revision: image, Images: map[string]string{"main": image}}
	if pod.DeletionTimestamp == nil && inplace.Begin(p, pod, update, inplace.BeginOptions{Now: time.Now(), GracePeriodSeconds: grace}) == nil {
		write(u, p, pod, "begins the in-place update to "+image)
	}
}

// finishUpdate takes the update of a pod by its workload further.
func finishUpdate(u *simulation.User, pod *corev1.Pod) {
	p := &podpatch.Patch{}
	if _, err := inplace.Refresh(p, pod, time.Now()); err == nil && pod.DeletionTimestamp == nil {
		write(u, p, pod, "goes on with the in-place update")
	}
}

func finishUpdates(u *simulation.User) {
	for _, pod := range u.Pods() {
		finishUpdate(u, pod)
	}
}

func write(u *simulation.User, p *podpatch.Patch, pod *corev1.Pod, what string) {
	if !p.Changes(pod) {
		return
	}
	after, err := p.Apply(pod)
	if err != nil {
		panic(err)
	}
	u.UpdatePod(what, after)
}

// updateOther has the other SidecarSet write into a pod what it does in an update.
func updateOther(u *simulation.User, pod *corev1.Pod, image string) {
	records, err := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation)
	record, is := records[otherSet.Name]
	if err != nil || !is || pod.DeletionTimestamp != nil {
		return
	}
	after := pod.DeepCopy()
	for i := range after.Spec.Containers {
		if c := &after.Spec.Containers[i]; c.Name == "gate-1" {
			c.Image = image
		}
	}
	record.SidecarSetHash, record.UpdateTimestamp = image, metav1.Now()
	records[otherSet.Name] = record
	annotate := func(key string, value any) {
		data, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		after.Annotations[key] = string(data)
	}
	annotate(v1alpha1.SidecarSetHashAnnotation, records)
	states := map[string]v1alpha1.SidecarSetInPlaceUpdateState{}
	_ = json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation]), &states) // otherwise there are none
	states[otherSet.Name] = v1alpha1.SidecarSetInPlaceUpdateState{Revision: image, UpdateTimestamp: metav1.Now(),
		LastContainerStatuses: map[string]inplacev1alpha1.ContainerStatus{"gate-1": {ImageID: image}}}
	annotate(v1alpha1.SidecarSetInPlaceUpdateStateAnnotation, states)
	u.UpdatePod("updates the other sidecar", after)
}
