// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// ours are the labels and annotations of pods that controllers write.
var ours = map[string]bool{
	revisionLabel: true, templateHashLabel: true,
	lifecyclev1alpha1.StateLabel: true, lifecyclev1alpha1.TimestampAnnotation: true, lifecyclev1alpha1.SpecifiedDeleteLabel: true,
	inplacev1alpha1.StateAnnotation: true, inplacev1alpha1.LegacyStateAnnotation: true,
	inplacev1alpha1.GraceAnnotation: true, inplacev1alpha1.LegacyGraceAnnotation: true,
	appsv1.StatefulSetPodNameLabel: true, appsv1.PodIndexLabel: true,
}

// checkInPlace: a write changes of a pod that stays only what an update in place may change. These are images that the
// revision of the pod names, and labels and annotations of its templates. They are also what hooks are armed with, its
// owner, and the conditions that belong to all that.
func checkInPlace(v *violations, w *Write, l *lifecyclev1alpha1.Lifecycle) {
	before, after := w.pods()
	if before == nil || after == nil || w.Verb == "delete" {
		return
	}
	if known := w.knownPod(); known != nil && updated(before, after) && inGrace(known) {
		v.add(InPlace, "updates pod %s within the grace period of its former update", before.Name)
	}
	checkSpecOfPod(v, w)
	checkTakenBack(v, w)
	checkPodStatus(v, before, after)
	checkExclusive(v, w)
	checkBackInService(v, w)
	keys := slices.Concat(changed(before.Labels, after.Labels), changed(before.Annotations, after.Annotations))
	if after.Annotations[inplacev1alpha1.GraceAnnotation] != before.Annotations[inplacev1alpha1.GraceAnnotation] {
		keys = append(keys, deferred(after)...)
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return ours[key] })
	if len(keys) == 0 {
		return
	}
	allowed := map[string]string{}
	for _, s := range []*State{w.Truth, w.Known} { // what its author knew may be gone together with the workload
		for _, t := range templatesOf(s.Revisions) {
			maps.Copy(allowed, t.Labels)
			maps.Copy(allowed, t.Annotations)
		}
	}
	if l != nil && l.InPlaceUpdate != nil {
		maps.Copy(allowed, l.InPlaceUpdate.LabelsHandler)
	}
	putOff := deferred(before) // judged when it was
	for _, key := range keys {
		_, may := allowed[key]
		v.never(!may && !slices.Contains(putOff, key), InPlace,
			"changes %s of pod %s, which is neither in its template nor the controller's", key, before.Name)
	}
}

// checkSpecOfPod: a container gets an image that its revision names, and nothing else of the spec changes. If the pod
// has the gate for that, the author has taken it out of service before. Another controller beside it may have put it
// back.
func checkSpecOfPod(v *violations, w *Write) {
	before, after := w.pods()
	if equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		return
	}
	templates, known := templatesOf(w.Truth.Revisions), w.knownPod()
	rest := after.DeepCopy()
	for i := range min(len(rest.Spec.Containers), len(before.Spec.Containers)) {
		c, old := &rest.Spec.Containers[i], before.Spec.Containers[i].Image
		target := templates[shortHash(after.Labels[revisionLabel])]
		checkResize(v, w, &before.Spec.Containers[i], c, target)
		if c.Image == old {
			continue
		}
		if target != nil && image(&target.Spec, c.Name) != unmirrored(c.Image) {
			v.add(InPlace, "gives container %s of pod %s the image %s, revision %s says %q",
				c.Name, before.Name, c.Image, after.Labels[revisionLabel], image(&target.Spec, c.Name))
		}
		v.never(hasGate(before, inplacev1alpha1.InPlaceUpdateReady) && !updating(before) && (known == nil || !updating(known)), InPlace,
			"gives container %s of pod %s another image while the pod is in service", c.Name, before.Name)
		c.Image = old
	}
	v.never(!equality.Semantic.DeepEqual(before.Spec, rest.Spec), InPlace,
		"changes more of the spec of pod %s than images", before.Name)
}

// checkTakenBack: a pod whose update is given up has the images of the revision that it goes back to.
func checkTakenBack(v *violations, w *Write) {
	before, after := w.pods()
	target := templatesOf(w.Truth.Revisions)[shortHash(after.Labels[revisionLabel])]
	if target == nil || !takenBack(before, after) {
		return
	}
	for c := range each(after.Spec.Containers) {
		if !slices.Contains([]string{"", unmirrored(c.Image)}, image(&target.Spec, c.Name)) { // sidecars are injected
			v.add(InPlace, "takes pod %s back to revision %s, which says %q of container %s, and not %s",
				before.Name, after.Labels[revisionLabel], image(&target.Spec, c.Name), c.Name, c.Image)
		}
	}
}

// deferred lists the keys of labels and annotations that change when the grace period of a pod's update is over.
func deferred(pod *corev1.Pod) (keys []string) {
	var record struct{ MetaDataPatch []byte }
	var patch struct {
		Metadata struct{ Labels, Annotations map[string]any }
	}
	if json.Unmarshal([]byte(pod.Annotations[inplacev1alpha1.GraceAnnotation]), &record) != nil || json.Unmarshal(record.MetaDataPatch, &patch) != nil {
		return nil
	}
	return slices.Concat(slices.Collect(maps.Keys(patch.Metadata.Labels)), slices.Collect(maps.Keys(patch.Metadata.Annotations)))
}

func hasGate(pod *corev1.Pod, condition corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool { return g.ConditionType == condition })
}

// checkPodStatus: of the status, only the conditions of readiness gates are the
// controller's, and it makes no pod ready.
func checkPodStatus(v *violations, before, after *corev1.Pod) {
	rest := after.Status.DeepCopy()
	rest.Conditions = before.Status.Conditions
	v.never(!equality.Semantic.DeepEqual(before.Status, *rest), InPlace,
		"changes more of the status of pod %s than conditions", before.Name)
	for is := range each(after.Status.Conditions) {
		was := condition(before, is.Type)
		if was != nil && equality.Semantic.DeepEqual(*was, *is) {
			continue
		}
		switch is.Type {
		case inplacev1alpha1.InPlaceUpdateReady, lifecyclev1alpha1.KruisePodReady:
		case corev1.PodReady:
			v.never(is.Status == corev1.ConditionTrue, InPlace,
				"makes pod %s Ready, which only its kubelet may", before.Name)
		default:
			v.add(InPlace, "writes the condition %s of pod %s", is.Type, before.Name)
		}
	}
}

func changed(before, after map[string]string) (keys []string) {
	for key, value := range after {
		if old, found := before[key]; !found || old != value {
			keys = append(keys, key)
		}
	}
	for key := range before {
		if _, found := after[key]; !found {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

func templatesOf(revisions map[string]*appsv1.ControllerRevision) map[string]*corev1.PodTemplateSpec {
	templates := map[string]*corev1.PodTemplateSpec{}
	for name, r := range revisions {
		if template := templateOf(string(r.Data.Raw)); template != nil {
			templates[shortHash(name)] = template
		}
	}
	return templates
}

// decoded holds what templateOf has returned: histories have the same few templates.
var decoded sync.Map

// templateOf reads the data of a revision; nil if it cannot. The template must not be changed.
func templateOf(raw string) *corev1.PodTemplateSpec {
	if known, ok := decoded.Load(raw); ok {
		return known.(*corev1.PodTemplateSpec)
	}
	var data struct {
		Spec struct{ Template corev1.PodTemplateSpec }
	}
	var template *corev1.PodTemplateSpec
	if err := json.Unmarshal([]byte(raw), &data); err == nil {
		template = &data.Spec.Template
	}
	decoded.Store(raw, template)
	return template
}

// shortHash is the part of a revision's name by which pods of any label are compared.
func shortHash(name string) string { return name[strings.LastIndex(name, "-")+1:] }

// checkExclusive: no update of a pod begins while a SidecarSet updates it, unless one of the
// workload itself was under way when the author looked. (IP-33)
func checkExclusive(v *violations, w *Write) {
	before, after := w.pods()
	if w.Observed == nil || !updated(before, after) {
		return
	}
	observed := w.Observed.Pods[before.Name]
	if observed == nil || observed.UID != before.UID || unreadable(observed) || inGrace(observed) || updating(observed) || len(replacing(observed)) > 0 {
		return
	}
	name := sidecarReplacing(before, w.Known.Now)
	v.never(name != "", Exclusive, "updates pod %s while a SidecarSet has container %s take another image", before.Name, name)
}

// checkBackInService: a pod goes back into service with what its update gave it, and that has come up. (IP-24, IP-26, IP-45)
func checkBackInService(v *violations, w *Write) {
	before, after := w.pods()
	if w.Known == nil || !updating(before) || updating(after) || inGrace(before) {
		return
	}
	if known := w.knownPod(); known != nil {
		for _, name := range replacing(known) {
			v.add(InPlace, "puts pod %s back into service, and container %s has still to take its image", before.Name, name)
		}
		for _, name := range starting(known, w.Known.Now) {
			v.add(InPlace, "puts pod %s back into service, and container %s has still to come up", before.Name, name)
		}
	}
}

// replacing names the containers that have still to take what the workload gave them.
func replacing(pod *corev1.Pod) (names []string) {
	var state inplacev1alpha1.State
	if json.Unmarshal([]byte(pod.Annotations[inplacev1alpha1.StateAnnotation]), &state) != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(state.LastContainerStatuses)), func(name string) bool { return took(pod, name) })
}

// longestSidecar is how long an update waits for that of a sidecar. (IP-33)
const longestSidecar = 5 * time.Minute

// sidecarReplacing names a container that has still to take what a SidecarSet gave it not
// long ago, by its records; empty if there is none.
func sidecarReplacing(pod *corev1.Pod, now time.Time) string {
	var states map[string]v1alpha1.SidecarSetInPlaceUpdateState
	var records map[string]v1alpha1.SidecarSetUpgradeRecord
	if json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation]), &states) != nil ||
		json.Unmarshal([]byte(pod.Annotations[v1alpha1.SidecarSetHashAnnotation]), &records) != nil {
		return ""
	}
	for _, set := range slices.Sorted(maps.Keys(states)) {
		if now.Sub(records[set].UpdateTimestamp.Time) >= longestSidecar {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(states[set].LastContainerStatuses)) {
			if image(&pod.Spec, name) != "" && !took(pod, name) {
				return name
			}
		}
	}
	return ""
}

// asked is how much later than its startup probe has its turn it is known what that says.
const asked = 5 * time.Second

// starting names the containers of a pod, native sidecars among them, whose kubelet says that they have started, and that have not
// come up. Kubelets of simulations have the startup probe succeed after two and a half periods, and ask it after one. If one says
// then that a container has started which has not, a cache is behind, and that is what its reader has to believe. (IP-45)
func starting(pod *corev1.Pod, now time.Time) (names []string) {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		s := statusOf(pod, c.Name)
		if c.StartupProbe == nil || s.State.Running == nil || !ptr.Deref(s.Started, false) {
			continue
		}
		period := time.Duration(cmp.Or(c.StartupProbe.PeriodSeconds, 10)) * time.Second
		if age := now.Sub(s.State.Running.StartedAt.Time); age < 5*period/2 && age < period+asked {
			names = append(names, c.Name)
		}
	}
	return names
}

// resized returns a spec with the cpu requests of another one, for containers that have one in both. Histories have no
// other resources, and none can come or go in place. (IP-35)
func resized(spec, to *corev1.PodSpec) *corev1.PodSpec {
	out := spec.DeepCopy()
	for i := range min(len(out.Containers), len(to.Containers)) {
		have, wanted := out.Containers[i].Resources.Requests, to.Containers[i].Resources.Requests
		if _, had := have[corev1.ResourceCPU]; had {
			if cpu, has := wanted[corev1.ResourceCPU]; has {
				have[corev1.ResourceCPU] = cpu
			}
		}
	}
	return out
}

// reportsResources tells whether the kubelet of a pod says what its containers have. (IP-37)
func reportsResources(pod *corev1.Pod) bool {
	return first(pod.Status.ContainerStatuses, func(s *corev1.ContainerStatus) bool { return s.Ready && s.Resources == nil }) == nil
}

// checkResize: a container gets the cpu that the revision of its pod names and no other, least of all that of an
// earlier revision. It gets it by a separate request. If the container restarts for that, the pod is out of service. It
// returns the container as it was. (IP-36)
func checkResize(v *violations, w *Write, before, after *corev1.Container, target *corev1.PodTemplateSpec) {
	if equality.Semantic.DeepEqual(before.Resources, after.Resources) {
		return
	}
	pod, _ := w.pods()
	v.never(w.Subresource != "resize", InPlace, "changes resources of pod %s by %s", pod.Name, w.Subresource)
	if target != nil {
		for c := range each(target.Spec.Containers) {
			v.never(c.Name == after.Name && !equality.Semantic.DeepEqual(c.Resources, after.Resources), InPlace,
				"gives container %s of pod %s the cpu %s, its revision says %s",
				c.Name, pod.Name, after.Resources.Requests.Cpu(), c.Resources.Requests.Cpu())
		}
	}
	for _, p := range before.ResizePolicy {
		v.never(p.RestartPolicy == corev1.RestartContainer && hasGate(pod, "InPlaceUpdateReady") && !updating(pod), InPlace,
			"resizes container %s of pod %s, which restarts for it, while the pod is in service", before.Name, pod.Name)
	}
	after.Resources = before.Resources
}

// resizedInService tells whether an update changes nothing but cpu, of containers that need no
// restart for it: no hook is asked about that. (IP-36)
func resizedInService(w *Write, before, after *corev1.Pod) bool {
	templates := templatesOf(w.Truth.Revisions)
	from, to := templates[shortHash(before.Labels[revisionLabel])], templates[shortHash(after.Labels[revisionLabel])]
	if from == nil || to == nil || equality.Semantic.DeepEqual(from.Spec, to.Spec) || !equality.Semantic.DeepEqual(resized(&from.Spec, &to.Spec), &to.Spec) {
		return false
	}
	restarts := func(p corev1.ContainerResizePolicy) bool { return p.RestartPolicy == corev1.RestartContainer }
	return first(to.Spec.Containers, func(c *corev1.Container) bool { return slices.ContainsFunc(c.ResizePolicy, restarts) }) == nil
}

// checkResized: a pod asks for the cpu of its revision, whether its node has it or not. (IP-36)
func (j *cloneSetJudge) checkResized(s *State) {
	templates := templatesOf(s.Revisions)
	for _, pod := range s.Pods {
		t := templates[shortHash(pod.Labels[revisionLabel])]
		if t == nil || !j.owned(pod) || !active(pod) || inGrace(pod) || unreadable(pod) {
			continue
		}
		for i := range min(len(t.Spec.Containers), len(pod.Spec.Containers)) {
			is, want := pod.Spec.Containers[i].Resources.Requests.Cpu(), t.Spec.Containers[i].Resources.Requests.Cpu()
			j.never(is.Cmp(*want) != 0, Settled, "pod %s asks for the cpu %s, its revision for %s", pod.Name, is, want)
		}
	}
}

// resizeDeferred tells whether the node of a pod has no room for its new resources: it serves with those that it has. (IP-38)
func resizeDeferred(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonDeferred
	})
}
