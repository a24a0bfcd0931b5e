// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const propertySpec = `{containers: [{name: log, image: "log:v1"},
  {name: mesh, image: "mesh:v1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "mesh:empty"}}]}`

// This holds whatever happens to pods, and whatever users ask for. No plan takes more pods that serve than maxUnavailable
// leaves, or pods that the partition holds, or updates a pod twice. None touches a container or a record that is not the
// SidecarSet's, or the serving container of a hot one. The order of lists does not matter. Once users ask for what can be
// had, all pods get there, as do the updates of their workloads, and nothing is planned any more. (SCS-5 to SCS-8, SCS-11,
// SCS-12, SCS-16 to SCS-20, SCS-24)
func TestPlanProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t, propertySpec)
		other := newWorld(t, `{containers: [{name: other, image: "other:v1"}]}`).set
		other.Name = "other"
		for i := range rapid.IntRange(1, 5).Draw(r, "pods") {
			w.addAs(w.gated(fmt.Sprintf("p%d", i)), w.set, other)
		}
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			w.act(r, other)
			plan := w.plan()
			for _, broken := range w.broken(plan) {
				r.Errorf("%s\nplan %s", broken, plan)
			}
			if got, want := NewPlan(reversed(w.snapshot())).String(), plan.String(); got != want {
				r.Errorf("plan %s\nin another order %s", want, got)
			}
			if rapid.Bool().Draw(r, "apply") {
				w.apply(plan)
			}
		}
		log, mesh := w.set.Spec.Containers[0].Image, w.set.Spec.Containers[1].Image
		for _, image := range []*string{&log, &mesh} { // users replace what is broken, and sometimes what is not
			if name, tag, _ := strings.Cut(*image, ":"); tag == "broken" || tag == "crash" || rapid.Bool().Draw(r, "push") {
				*image = name + ":v9"
			}
		}
		w.heal(log, mesh)
		for _, pod := range w.pods {
			if worker := (&pod0{pod}).worker(); imageOf(pod, "log") != log || imageOf(pod, worker) != mesh {
				r.Errorf("pod %s has log %s and mesh %s", pod.Name, imageOf(pod, "log"), imageOf(pod, worker))
			}
			if complete, waiting, err := inplace.Complete(pod); !complete || err != nil || !(&pod0{pod}).serves() {
				r.Errorf("the workload of pod %s waits for %s, %v", pod.Name, waiting, err)
			}
		}
		if plan := w.plan(); plan.Rollout.UpdatedReady != int32(len(w.pods)) || len(plan.Waiting) > 0 || plan.Revisions.Any() {
			r.Errorf("at the end: %s", plan)
		}
	})
}

// pod0 reads a pod without the planner.
type pod0 struct{ *corev1.Pod }

func (p *pod0) worker() string {
	for _, name := range []string{"mesh-1", "mesh-2"} {
		if strings.Contains(p.Annotations[v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation], `"mesh":"`+name+`"`) {
			return name
		}
	}
	return ""
}

// hash is the recorded one of a SidecarSet.
func (p *pod0) hash(set string) string {
	records, _ := injection.Records(p.Pod, v1alpha1.SidecarSetHashAnnotation)
	return records[set].SidecarSetHash
}

// runs tells whether a container of a pod is ready, and runs the image of the spec.
func (p *pod0) runs(name string) bool {
	return slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == name && s.Ready && s.Image == imageOf(p.Pod, name)
	})
}

// serves tells whether a pod is Running and Ready.
func (p *pod0) serves() bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

// settled tells whether a pod serves, runs what its spec says, and has one mesh.
func (p *pod0) settled() bool { return p.serves() && p.hasSidecars() }

// hasSidecars tells whether a pod runs what its spec says of the SidecarSet, and has one mesh.
func (p *pod0) hasSidecars() bool {
	for _, name := range []string{"log", "mesh-1", "mesh-2"} {
		if !p.runs(name) {
			return false
		}
	}
	return imageOf(p.Pod, "mesh-1") == "mesh:empty" || imageOf(p.Pod, "mesh-2") == "mesh:empty"
}

// act has something happen.
func (w *world) act(r *rapid.T, other *v1alpha1.SidecarSet) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(0, 200).Draw(r, "seconds")) * time.Second)
	pod := func() *corev1.Pod { return w.pods[rapid.IntRange(0, len(w.pods)-1).Draw(r, "pod")] }
	switch rapid.SampledFrom([]string{"kubelet", "kubelet", "kubelet", "stop", "down", "image", "image", "strategy", "replace", "workload", "workload ends"}).Draw(r, "act") {
	case "kubelet":
		w.kubelet(pod().Name)
	case "stop": // the kubelet has stopped containers of other images than the spec has
		p := pod()
		for i := range p.Status.ContainerStatuses {
			if s := &p.Status.ContainerStatuses[i]; s.Image != imageOf(p, s.Name) {
				s.Ready, s.State = false, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "Pulling"}}
			}
		}
		judgeReady(p, w.now)
	case "down":
		w.down(pod().Name, rapid.SampledFrom([]string{"main", "log", "mesh-1", "mesh-2", "other"}).Draw(r, "container"))
	case "image":
		name := rapid.SampledFrom([]string{"log", "mesh"}).Draw(r, "sidecar")
		w.image(name, name+":"+rapid.SampledFrom([]string{"v1", "v2", "v3", "broken", "crash"}).Draw(r, "tag"))
	case "strategy":
		w.edit(fmt.Sprintf("{updateStrategy: {type: %s, paused: %t, partition: %d, maxUnavailable: %d}}",
			rapid.SampledFrom([]string{"RollingUpdate", "RollingUpdate", "NotUpdate"}).Draw(r, "type"), rapid.IntRange(0, 4).Draw(r, "paused") == 0,
			rapid.IntRange(0, 2).Draw(r, "partition"), rapid.IntRange(0, 3).Draw(r, "maxUnavailable")))
	case "replace":
		gone := pod()
		w.pods = slices.DeleteFunc(w.pods, func(p *corev1.Pod) bool { return p == gone })
		w.addAs(w.gated("new-"+w.version()), w.set, other)
	case "workload":
		w.workload(pod(), "main:"+rapid.SampledFrom([]string{"v1", "v2", "broken"}).Draw(r, "main"))
	case "workload ends":
		w.refresh(pod())
	}
}

// workload has the workload of a pod begin an in-place update of main.
func (w *world) workload(pod *corev1.Pod, image string) {
	patch := &podpatch.Patch{}
	if err := inplace.Begin(patch, pod, &inplace.Update{Revision: "web-2", Images: map[string]string{"main": image}}, inplace.BeginOptions{Now: w.now}); err != nil {
		w.t.Fatal(err)
	}
	w.writes(pod, patch)
}

// refresh has the workload of a pod continue its update.
func (w *world) refresh(pod *corev1.Pod) {
	patch := &podpatch.Patch{}
	if _, err := inplace.Refresh(patch, pod, w.now); err != nil {
		w.t.Fatal(err)
	}
	w.writes(pod, patch)
}

// writes has another client write a pod.
func (w *world) writes(pod *corev1.Pod, patch *podpatch.Patch) {
	if patch.Changes(pod) {
		w.patch(&rollout.PodPatch{Pod: pod, Patch: patch})
		judgeReady(w.pod(pod.Name), w.now)
	}
}

// gated is a pod with the readiness gate that workloads give to theirs.
func (w *world) gated(name string) *corev1.Pod {
	pod := w.bare(name)
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: inplacev1alpha1.InPlaceUpdateReady}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionTrue}}
	return pod
}

// heal has users ask for what can be had, and wait.
func (w *world) heal(log, mesh string) {
	w.edit("{updateStrategy: {type: RollingUpdate, paused: false, partition: 0, maxUnavailable: 1}}")
	w.image("log", log)
	w.image("mesh", mesh)
	for _, pod := range slices.Clone(w.pods) {
		if imageOf(pod, "main") == "main:broken" {
			w.workload(pod, "main:v9")
		}
	}
	for range 100 {
		w.now = w.now.Add(time.Minute)
		w.kubelet()
		for _, pod := range slices.Clone(w.pods) {
			w.refresh(pod)
		}
		if plan := w.sync(); len(plan.Patch) == 0 && plan.Status == nil {
			return
		}
	}
}

// broken lists what is wrong with a plan.
func (w *world) broken(plan *Plan) (broken []string) {
	say := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	hashes, _ := injection.HashesOf(w.set)
	strategy := w.set.Spec.UpdateStrategy
	unavailable, old, taken, serving := 0, 0, 0, 0
	for _, p := range w.pods {
		pod := &pod0{p}
		if pod.serves() {
			delete(w.downBefore, p.Name)
		}
		switch {
		case pod.hash("demo") != hashes.Containers:
			old++
		case w.downBefore[p.Name] && pod.hasSidecars(): // it was out of service already as its update began, and is since
		case !pod.settled():
			unavailable++
		}
	}
	for i := range plan.Patch {
		patch := &plan.Patch[i]
		pod := &pod0{patch.Pod}
		broken = append(broken, foreign(patch)...)
		if worker := pod.worker(); pod.runs(worker) && patch.Patch.Images[worker] != "" {
			say("pod %s loses the container %s that serves", pod.Name, worker)
		}
		if workloadUpdates(pod.Pod, w.now) {
			say("pod %s is changed while its workload updates it", pod.Name)
		}
		if patch.Kind == PatchReset {
			if patch.Patch.Annotations[v1alpha1.SidecarSetHashAnnotation] != nil || !pod.runs(pod.worker()) {
				say("pod %s is emptied: %s", pod.Name, patch.Patch)
			}
			continue
		}
		if taken++; pod.serves() {
			serving++
		}
		if pod.hash("demo") == hashes.Containers {
			say("pod %s is updated already", pod.Name)
		}
	}
	if most := int(strategy.MaxUnavailable.IntVal) - unavailable; serving > max(most, 0) {
		say("%d pods that serve are taken, where %d are unavailable of %s", serving, unavailable, strategy.MaxUnavailable)
	}
	if left := old - taken; taken > 0 && left < int(strategy.Partition.IntVal) {
		say("%d pods are left, of a partition of %s", left, strategy.Partition)
	}
	if taken > 0 && (strategy.Paused || strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType) {
		say("%d pods are taken, of which none should be", taken)
	}
	return broken
}

// foreign lists what a patch changes that is not the SidecarSet's.
func foreign(patch *rollout.PodPatch) (broken []string) {
	for name := range patch.Patch.Images {
		if name != "log" && name != "mesh-1" && name != "mesh-2" {
			broken = append(broken, "it changes container "+name)
		}
	}
	after, err := patch.Patch.Apply(patch.Pod)
	if err != nil {
		return append(broken, err.Error())
	}
	if before, now := (&pod0{patch.Pod}).hash("other"), (&pod0{after}).hash("other"); before != now || now == "" {
		broken = append(broken, fmt.Sprintf("it changes the record of the other from %q to %q", before, now))
	}
	if !patch.Patch.IfUnchanged {
		broken = append(broken, "it may overwrite what others write")
	}
	return broken
}

// workloadUpdates tells whether the workload of a pod has begun to update it, less than
// the limit ago.
func workloadUpdates(pod *corev1.Pod, now time.Time) bool {
	_, at, _ := strings.Cut(pod.Annotations["apps.kruise.io/inplace-update-state"], `"updateTimestamp":"`)
	began, err := time.Parse(time.RFC3339, strings.SplitN(at, `"`, 2)[0])
	return err == nil && now.Sub(began) < workloadLimit && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == "InPlaceUpdateReady" && c.Status == corev1.ConditionFalse
	})
}

// reversed is a snapshot whose lists are in the other order.
func reversed(s *Snapshot) *Snapshot {
	s.Pods, s.Revisions = slices.Clone(s.Pods), slices.Clone(s.Revisions)
	slices.Reverse(s.Pods)
	slices.Reverse(s.Revisions)
	return s
}
