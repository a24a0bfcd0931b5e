// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// checkPod judges a write of a pod: the update of its sidecars, or the reset of hot ones.
func (j *sidecarSetJudge) checkPod() {
	before, after := j.pods()
	if before != nil && after != nil && j.Verb == "patch" && j.Subresource == "status" && j.contract.UpgradableCondition {
		j.checkUpgradable(before, after)
		return
	}
	if before == nil || after == nil || j.Verb != "patch" || j.Subresource != "" {
		j.add(Ownership, "%s of pod %s/%s", j.Verb, j.name(), j.Subresource)
		return
	}
	if j.Asked == nil || j.Asked.ResourceVersion == "" { // others write these records too
		j.add(InPlace, "patches pod %s whatever has become of it since", before.Name)
	}
	if j.wrong(!j.matches(before, j.Known), Ownership, "patches pod %s, which is not one of the SidecarSet", before.Name) {
		return
	}
	j.checkTouched(before, after)
	j.checkRecords(before, after)
	j.checkHot(before, after)
	j.never(j.workloadUpdates(before, j.Known.Now), Exclusive,
		"changes sidecars of pod %s while its workload updates it in place", before.Name)
	const hash = v1alpha1.SidecarSetHashAnnotation
	if before.Annotations[hash] != after.Annotations[hash] {
		j.checkUpdate(before, after)
		return
	}
	j.checkReset(before, after)
}

// checkTouched: nothing of a pod changes but annotations and the images of the SidecarSet's own containers, native sidecars among
// them. The images become those of the spec or the empty one. (SCS-11)
func (j *sidecarSetJudge) checkTouched(before, after *corev1.Pod) {
	rest := after.DeepCopy()
	for _, lists := range [][2][]corev1.Container{{before.Spec.Containers, rest.Spec.Containers}, {before.Spec.InitContainers, rest.Spec.InitContainers}} {
		for i := range min(len(lists[0]), len(lists[1])) { // any other container is a change that stays
			was, c := lists[0][i].Image, &lists[1][i]
			j.never(c.Image != was && !slices.Contains(j.imagesOf(c.Name), unmirrored(c.Image)), InPlace,
				"gives container %s of pod %s the image %s, want one of %v", c.Name, before.Name, c.Image, j.imagesOf(c.Name))
			c.Image = was
		}
	}
	rest.Annotations, rest.ResourceVersion, rest.Generation, rest.ManagedFields = before.Annotations, before.ResourceVersion, before.Generation, before.ManagedFields
	j.never(!equality.Semantic.DeepEqual(before, rest), InPlace,
		"changes more of pod %s than images and annotations", before.Name)
}

// imagesOf are the images that a container of pods may get, none of one that is not the SidecarSet's.
func (j *sidecarSetJudge) imagesOf(name string) []string {
	c := first(j.all, func(c *v1alpha1.SidecarContainer) bool { return slices.Contains(namesOf(c), name) })
	switch {
	case c == nil:
		return nil
	case hot(c):
		return []string{c.Image, c.UpgradeStrategy.HotUpgradeEmptyImage}
	}
	return []string{c.Image}
}

// checkRecords: of the annotations only the SidecarSet's own entries change. (SCS-11, SCS-12)
func (j *sidecarSetJudge) checkRecords(before, after *corev1.Pod) {
	mayChange, patched := map[string]bool{}, map[string]string{}
	for _, c := range j.hotOnes() {
		for _, name := range namesOf(c) {
			mayChange[v1alpha1.SidecarSetVersionAnnotationPrefix+name] = true
			mayChange[v1alpha1.SidecarSetVersionAltAnnotationPrefix+name] = true
		}
	}
	for _, patch := range j.set.Spec.PatchPodMetadata {
		maps.Copy(patched, patch.Annotations)
	}
	for _, key := range changed(before.Annotations, after.Annotations) {
		switch key {
		case v1alpha1.SidecarSetHashAnnotation, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation:
			j.checkEntries(key, before, after, func(name string) bool { return name == j.set.Name })
		case v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation:
			j.checkEntries(key, before, after, func(name string) bool {
				return slices.ContainsFunc(j.hotOnes(), func(c *v1alpha1.SidecarContainer) bool { return c.Name == name })
			})
		default:
			_, is := patched[key]
			j.never(!mayChange[key] && !(is && j.isUpdated(after)), InPlace, "changes annotation %s of pod %s", key, before.Name)
		}
	}
}

// checkEntries: entries of others stay in a map that can be read.
func (j *sidecarSetJudge) checkEntries(key string, before, after *corev1.Pod, own func(string) bool) {
	var was, is map[string]any
	if text := before.Annotations[key]; text != "" && json.Unmarshal([]byte(text), &was) != nil {
		return
	}
	if json.Unmarshal([]byte(after.Annotations[key]), &is) != nil {
		j.add(InPlace, "makes annotation %s of pod %s unreadable: %s", key, before.Name, after.Annotations[key])
		return
	}
	mine := func(name string, _ any) bool { return own(name) }
	maps.DeleteFunc(was, mine)
	maps.DeleteFunc(is, mine)
	j.never(len(was)+len(is) > 0 && !reflect.DeepEqual(was, is), InPlace,
		"changes entries of others in annotation %s of pod %s from %v to %v", key, before.Name, was, is)
}

// checkHot: one of both hot containers that served before goes on, and the one that works
// has a real image. (SCS-16 to SCS-18)
func (j *sidecarSetJudge) checkHot(before, after *corev1.Pod) {
	for _, c := range j.hotOnes() {
		var served, goOn []string
		for _, name := range namesOf(c) {
			if !j.serving(before, name) || j.isEmpty(before, name) {
				continue
			}
			served = append(served, name)
			if image(&after.Spec, name) == image(&before.Spec, name) {
				goOn = append(goOn, name)
			}
		}
		j.never(len(served) > 0 && len(goOn) == 0, Hot,
			"replaces %v of pod %s, and no other one serves", served, before.Name)
		if works := working(after)[c.Name]; !slices.Contains(namesOf(c), works) || j.isEmpty(after, works) {
			j.add(Hot, "says that container %q of pod %s works, with the image %q", works, before.Name, image(&after.Spec, works))
		}
	}
}

// checkReset: hot containers that do not work get the empty image when those that do serve,
// and the record of the update stays. (SCS-18)
func (j *sidecarSetJudge) checkReset(before, after *corev1.Pod) {
	j.never(equality.Semantic.DeepEqual(before.Spec, after.Spec), Needless,
		"patches pod %s, of which neither images nor the record change", before.Name)
	j.never(!maps.Equal(working(before), working(after)), Hot,
		"empties a container of pod %s, and has another one work", before.Name)
	j.checkEmptying(before)
	idles := j.idles(before)
	for _, c := range j.hotOnes() {
		works, idle := worker(before, c)
		if image(&before.Spec, idle) == image(&after.Spec, idle) {
			continue
		}
		j.never(j.isEmpty(before, idle), Hot,
			"empties container %s of pod %s, which has the empty image %s", idle, before.Name, image(&before.Spec, idle))
		is, alt := v1alpha1.SidecarSetVersionAnnotationPrefix+idle, v1alpha1.SidecarSetVersionAltAnnotationPrefix+works
		j.never(after.Annotations[is] != "0" || after.Annotations[alt] != "0", Hot,
			"empties container %s of pod %s, and leaves its versions %q and %q", idle, before.Name, after.Annotations[is], after.Annotations[alt])
	}
	for _, name := range j.containersOf(before) {
		switch {
		case image(&before.Spec, name) != image(&after.Spec, name) && !idles[name]:
			j.add(InPlace, "gives container %s of pod %s another image, and no record says so", name, before.Name)
		case idles[name] || len(j.imagesOf(name)) == 0:
		case !j.took(before, name):
			j.add(Hot, "empties a container of pod %s, while %s has still to take its image", before.Name, name)
		case !inService(before) && !statusOf(before, name).Ready:
			j.add(Hot, "empties a container of pod %s, while %s is not ready", before.Name, name)
		}
	}
}

// checkUpdate: a pod is updated that waits for it, to the present spec. (SCS-5 to SCS-14)
func (j *sidecarSetJudge) checkUpdate(before, after *corev1.Pod) {
	strategy := &j.set.Spec.UpdateStrategy
	switch {
	case strategy.Type == v1alpha1.NotUpdateSidecarSetStrategyType:
		j.add(Needless, "updates pod %s, the type is NotUpdate", before.Name)
	case strategy.Paused:
		j.add(Paused, "updates pod %s, the update is paused", before.Name)
	case j.confused:
		j.add(Needless, "updates pod %s, and the strategy cannot be read", before.Name)
	case !j.chosen.Matches(labels.Set(before.Labels)):
		j.add(Partition, "updates pod %s, which the selector of the update does not match", before.Name)
	}
	j.never(j.isUpdated(before), Needless, "updates pod %s, which is updated", before.Name)
	j.never(!j.upgradable(before), InPlace, "updates pod %s, of which more than images has changed", before.Name)
	j.checkRecord(after)
	for c := range each(j.all) {
		name := c.Name
		if hot(c) {
			name, _ = worker(after, c)
		}
		j.never(unmirrored(image(&after.Spec, name)) != c.Image, InPlace,
			"updates pod %s, and leaves container %s its image %s, want %s", before.Name, name, image(&after.Spec, name), c.Image)
		for _, name := range namesOf(c) {
			j.never(statusOf(before, name).Ready && !j.took(before, name), InPlace,
				"updates pod %s, whose container %s has still to take the image before", before.Name, name)
		}
		j.checkFlip(before, after, c)
	}
	j.checkStays(before, after)
	j.checkTaken(before, after)
	j.checkOrder(before)
	j.checkLeft(before)
}

// checkStays: an update leaves a container as the pod has it, if the pod's revision and the spec have the same image of it.
// Nothing is asked of an author who does not know that revision. (SCS-41)
func (j *sidecarSetJudge) checkStays(before, after *corev1.Pod) {
	held := j.recordedSet(before)
	if held == nil {
		return
	}
	for c := range each(j.all) {
		same := func(old v1alpha1.SidecarContainer) bool { return old.Name == c.Name && old.Image == c.Image }
		if !slices.ContainsFunc(slices.Concat(held.Spec.Containers, held.Spec.InitContainers), same) {
			continue
		}
		for _, name := range namesOf(c) {
			if was, is := image(&before.Spec, name), image(&after.Spec, name); was != is {
				j.add(InPlace, "gives container %s of pod %s the image %s for %s, and the spec had the same before", name, before.Name, is, was)
			}
		}
	}
}

// checkRecord: the record says what the pod has from now on. (SCS-11)
func (j *sidecarSetJudge) checkRecord(after *corev1.Pod) {
	record := j.record(after, v1alpha1.SidecarSetHashAnnotation)
	var names []string
	for i := range j.all {
		names = append(names, j.all[i].Name)
	}
	slices.Sort(names)
	j.never(record.SidecarSetHash != j.hash || record.SidecarSetName != j.set.Name || !slices.Equal(record.SidecarList, names), InPlace,
		"records %+v in pod %s, want hash %s and containers %v", record, after.Name, j.hash, names)
	if age := j.Known.Now.Sub(record.UpdateTimestamp.Time); age < 0 || age > hidden {
		j.add(InPlace, "records in pod %s that it was updated at %v, and it is %v", after.Name, record.UpdateTimestamp, j.Known.Now)
	}
	known := j.Known
	if j.latest(known) == nil { // it was written, and the answer lost
		known = j.Truth
	}
	j.never(!j.isLatest(known, record.SidecarSetControllerRevision), History,
		"records revision %q in pod %s, which does not hold the spec", record.SidecarSetControllerRevision, after.Name)
}

// checkFlip: a hot upgrade begins when the one before is over, or has brought nothing that
// serves; and its versions tell both containers of it. (SCS-17, SCS-19)
func (j *sidecarSetJudge) checkFlip(before, after *corev1.Pod, c *v1alpha1.SidecarContainer) {
	if !hot(c) {
		return
	}
	old, idle := worker(before, c)
	works, other := worker(after, c)
	if unmirrored(image(&before.Spec, old)) == c.Image || unmirrored(image(&before.Spec, idle)) == c.Image {
		return // nothing is to be done, or it is a way back
	}
	emptied := unmirrored(image(&before.Spec, idle)) == c.UpgradeStrategy.HotUpgradeEmptyImage
	j.never(emptied && goesOn(before, idle) && !j.took(before, idle), Hot,
		"upgrades %s of pod %s, and container %s has not taken the empty image", c.Name, before.Name, idle)
	const is, alt = v1alpha1.SidecarSetVersionAnnotationPrefix, v1alpha1.SidecarSetVersionAltAnnotationPrefix
	version := after.Annotations[is+works]
	if version != j.set.ResourceVersion && version != j.Observed.Workload.GetResourceVersion() || after.Annotations[alt+other] != version || after.Annotations[alt+works] != before.Annotations[is+other] {
		j.add(Hot, "upgrades %s of pod %s at version %s, and leaves versions %q and %q, peers %q and %q", c.Name, before.Name, j.set.ResourceVersion,
			version, after.Annotations[is+other], after.Annotations[alt+works], after.Annotations[alt+other])
	}
}
