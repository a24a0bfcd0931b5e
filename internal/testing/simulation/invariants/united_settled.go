// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// checkStatusWrite judges what a status says, by what its author knew. (UD-12)
func (u *united) checkStatusWrite(v *violations, w *Write) {
	after, ok := w.After.(*v1alpha1.UnitedDeployment)
	if v.wrong(!ok || after.UID != u.UID, Ownership, "the status of another UnitedDeployment is written") {
		return
	}
	before, _ := w.Before.(*v1alpha1.UnitedDeployment)
	if before != nil && !ptr.Equal(before.Status.CollisionCount, after.Status.CollisionCount) { // which is written alone
		return
	}
	if u.held && before != nil { // it keeps what it says of revisions that there are
		v.never(!sameFacts(before.Status, after.Status), Status,
			"it changes while the revision of the template is refused, from %+v to %+v", before.Status, after.Status)
		return
	}
	if after.Status.ObservedGeneration != u.Generation {
		v.add(Status, "observedGeneration is %d, and what was known was at %d", after.Status.ObservedGeneration, u.Generation)
		return
	}
	u.checkStatus(v, &after.Status)
}

// checkStatus judges a status by the workloads and pods of a state. (UD-12)
func (u *united) checkStatus(v *violations, status *v1alpha1.UnitedDeploymentStatus) {
	all, readable := u.allocated()
	failure := isTrue(status, v1alpha1.SubsetFailure)
	if wrong := !readable || u.resource == ""; wrong || failure {
		v.never(wrong != failure, Status,
			"the condition SubsetFailure is there: %t, and something is wrong: %t", failure, wrong)
		return
	}
	selector := "app=web"
	if u.labelsReserved() {
		selector += "," + v1alpha1.ReservedPodLabel + "=false"
	}
	v.never(status.Selector != selector || status.LabelSelector != status.Selector, Status,
		"the selector is %q, want %q", status.Selector, selector)
	u.checkUpdatedCondition(v, status)
	partitions := map[string]int32{}
	want := *status
	want.Replicas, want.ReadyReplicas = 0, 0
	for name, n := range all {
		partitions[name] = u.partitioned(name, n)
		if c := u.childOf(name); c != nil {
			want.Replicas, want.ReadyReplicas = want.Replicas+c.has, want.ReadyReplicas+c.can
		}
	}
	if u.moves() {
		u.checkMoved(v, status, all)
	} else if !maps.Equal(status.SubsetReplicas, all) || status.UpdateStatus == nil || !maps.Equal(status.UpdateStatus.CurrentPartitions, partitions) {
		v.add(Status, "subsetReplicas are %v, and should be %v with the partitions %v", status.SubsetReplicas, all, partitions)
		return
	}
	if status.UpdateStatus == nil {
		return
	}
	u.checkSubsets(v, status)
	updated := status.UpdateStatus.UpdatedRevision
	if u.state.Revisions[updated] != nil { // else it is new, and its pods are found by its name next time
		want.UpdatedReplicas, want.UpdatedReadyReplicas = 0, 0
		for _, pod := range u.state.Pods {
			is := pod.Labels[v1alpha1.SubsetRevisionLabel] == updated && pod.Labels["app"] == "web" && pod.DeletionTimestamp == nil
			count(&want.UpdatedReplicas, is)
			count(&want.UpdatedReadyReplicas, is && ready(pod))
		}
	}
	v.compare(status, &want)
}

// checkSubsets: the status tells of each subset what it tells of it elsewhere, and of no other. (UD-21.5, UD-21.7)
func (u *united) checkSubsets(v *violations, status *v1alpha1.UnitedDeploymentStatus) {
	var names []string
	if u.tellsSubsets || u.moves() {
		for _, subset := range u.Spec.Topology.Subsets {
			names = append(names, subset.Name)
		}
	}
	if v.wrong(len(names) != len(status.SubsetStatuses), Status, "subsetStatuses are %+v, of subsets %v", status.SubsetStatuses, names) {
		return
	}
	for i, name := range names {
		s, ready := &status.SubsetStatuses[i], int32(0)
		if c := u.childOf(name); c != nil {
			ready = c.can
		}
		if s.Name != name || s.Replicas != status.SubsetReplicas[name] || s.Partition != status.UpdateStatus.CurrentPartitions[name] || s.ReadyReplicas != ready ||
			!u.moves() && (s.ReservedPods > 0 || len(s.Conditions) > 0) {
			v.add(Status, "subset %s, of which %d pods are ready: %+v", name, ready, s)
		}
	}
}

// checkUpdatedCondition: the condition says whether all pods are at the revision that it names. (UD-12.5)
func (u *united) checkUpdatedCondition(v *violations, status *v1alpha1.UnitedDeploymentStatus) {
	c := conditionOf(status, v1alpha1.UnitedDeploymentUpdated)
	switch tells := u.tellsUpdated && status.UpdateStatus != nil; {
	case (c != nil) != tells:
		v.add(Status, "the condition UnitedDeploymentUpdated is there: %t", !tells)
	case c == nil:
	case (c.status == "True") != (status.CurrentRevision == status.UpdateStatus.UpdatedRevision) || !strings.HasSuffix(c.message, " "+status.UpdateStatus.UpdatedRevision):
		v.add(Status, "the condition UnitedDeploymentUpdated is %s: %s, of %s at %s", c.status, c.message, status.UpdateStatus.UpdatedRevision, status.CurrentRevision)
	}
}

// Settled judges what there is when nothing more happens. Pushed says that the pods of the template run, and that nothing is refused.
// If the schedule strategy is read, it says too that there are nodes for all pods.
func (p *UnitedPast) Settled(s *State, pushed bool) []Violation {
	var v violations
	u := p.of(s)
	if u == nil || u.DeletionTimestamp != nil || s.refuses("create", "controllerrevisions") {
		return nil
	}
	v.compareGeneration(u.Status.ObservedGeneration, u.Generation)
	u.checkStatus(&v, &u.Status)
	if _, readable := u.allocated(); !readable || u.resource == "" {
		return v
	}
	sum := int32(0)
	for _, subset := range u.Spec.Topology.Subsets {
		name := subset.Name
		c := u.childOf(name)
		if v.wrong(c == nil || !u.controls(c), Settled, "subset %s has no workload", name) {
			continue
		}
		sum += c.replicas
		u.checkChild(&v, c)
		u.checkSaysDead(&v, c)
		if revision := u.Status.UpdateStatus; revision != nil && c.revision != revision.UpdatedRevision {
			v.add(Settled, "the workload of subset %s is at %s, not %s", name, c.revision, revision.UpdatedRevision)
		}
	}
	if pushed {
		u.checkUpdated(&v)
		if u.reads {
			u.checkRecovered(&v)
		}
	}
	v.never(len(u.Spec.Topology.Subsets) > 0 && sum != u.wants() && (!u.moves() || sum < u.wants() || u.calm()), Placement,
		"the subsets are to have %d pods, and there are to be %d", sum, u.wants())
	for c := range each(u.children) {
		if chosen := u.childOf(c.subset); u.controls(c) && c.GetDeletionTimestamp() == nil && c.subset != "" &&
			(chosen == nil || chosen.GetUID() != c.GetUID() || u.subset(c.subset) == nil) {
			v.add(Settled, "%s %s is left, which is that of no subset", c.resource, c.GetName())
		}
	}
	for _, pod := range s.Pods {
		if u.labelsReserved() && u.ownsPod(pod) && pod.DeletionTimestamp == nil && pod.Labels[v1alpha1.ReservedPodLabel] == "" && !s.refuses("patch", "pods") {
			v.add(Settled, "pod %s does not say whether it is reserved", pod.Name)
		}
	}
	if status := u.Status.UpdateStatus; status != nil {
		u.checkHistory(&v, status.UpdatedRevision)
	}
	return v
}

// checkUpdated: all pods are updated but those that are held back. (UD-4, UD-11)
func (u *united) checkUpdated(v *violations) {
	for _, pod := range u.state.Pods {
		c := u.childOf(pod.Labels[v1alpha1.SubsetNameLabel])
		if c == nil || !controls(c.GetUID(), pod) || c.paused || !active(pod) || u.nameTaken(c) {
			continue
		}
		if _, ordinal, _ := cutOrdinal(pod.Name); ordinal >= c.partition && pod.Labels[v1alpha1.SubsetRevisionLabel] != c.revision {
			v.add(Settled, "pod %s stays at %s, and %d are held back", pod.Name, pod.Labels[v1alpha1.SubsetRevisionLabel], c.partition)
		}
	}
}

// checkHistory: the present revision is there, and no more are than are used or to be kept. (UD-R5, UD-12.3)
func (u *united) checkHistory(v *violations, updated string) {
	v.never(u.state.Revisions[updated] == nil, History, "the revision %s of the template is not there", updated)
	s := &u.Status
	v.never(s.UpdatedReadyReplicas == s.Replicas && s.Replicas == u.wants() && s.CurrentRevision != updated, Status,
		"currentRevision is %s, and all pods are at %s", u.Status.CurrentRevision, updated)
	u.history().checkLeft(v, u.state)
}

// checkSaysDead: a subset whose workload waits for pods on dead nodes is named, if that is one of Kubernetes. Any other says so itself,
// and the UnitedDeployment says that again. (UD-22)
func (u *united) checkSaysDead(v *violations, c *unitedChild) {
	waits := among(maps.Values(u.state.Pods), func(pod *corev1.Pod) bool {
		return controls(c.GetUID(), pod) && c.resource != "clonesets" && !ready(pod) && c.can < c.replicas
	})
	checkDead(v, u.state, waits, &u.Status, func(*corev1.Pod) string { return "subset " + c.subset })
}
