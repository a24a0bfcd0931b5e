// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// workloadSpread is a WorkloadSpread that is older than its workload. The workload is a CloneSet or a Deployment of the name that its
// pods have in the label app. Its subsets have the names of their zones; the limits are numbers, and the last subset has none.
type workloadSpread struct {
	counting []*distributionv1alpha1.WorkloadSpread // the versions whose spec counts; the last one is in force
	replicas int32                                  // of a CloneSet
	seen     map[string]bool                        // revisions of which there were pods when a limit or the number of pods was last changed
}

// inFlight is how long the webhook, of which there are several, may not have heard of a pod that is created.
const inFlight = 5 * time.Second

// takeSpread takes note of a version of a WorkloadSpread.
func (j *Judge) takeSpread(object *distributionv1alpha1.WorkloadSpread) {
	w := j.spreads[object.UID]
	if w == nil {
		w = &workloadSpread{}
		j.spreads[object.UID] = w
	}
	n := len(w.counting)
	if w.counting = countVersion(w.counting, object); len(w.counting) > n {
		j.changed(w)
	}
}

// takeSpreadSet takes note of how many pods a CloneSet wants.
func (j *Judge) takeSpreadSet(set *v1alpha1.CloneSet) {
	for _, w := range j.spreads {
		if target := latest(w.counting).Spec.TargetReference; target.Kind == "CloneSet" && target.Name == set.Name && w.replicas != *set.Spec.Replicas {
			w.replicas = *set.Spec.Replicas
			j.changed(w)
		}
	}
}

// changed takes note that pods are spread in another way from now on.
func (j *Judge) changed(w *workloadSpread) {
	w.seen = map[string]bool{}
	for _, pod := range j.spreadPods(w) {
		w.seen[revisionHash(pod)] = true
	}
}

// revisionHash is the revision of a pod as its labels say.
func revisionHash(pod *corev1.Pod) string {
	return pod.Labels[appsv1.ControllerRevisionHashLabelKey] + pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

// spreadPods are the active pods of the workload.
func (j *Judge) spreadPods(w *workloadSpread) map[types.UID]*corev1.Pod {
	pods := map[types.UID]*corev1.Pod{}
	for uid, pod := range j.pods {
		if w.owns(pod) && podstate.Active(pod) {
			pods[uid] = pod
		}
	}
	return pods
}

// owns tells whether a pod is of the workload.
func (w *workloadSpread) owns(pod *corev1.Pod) bool {
	owner, target := metav1.GetControllerOfNoCopy(pod), latest(w.counting).Spec.TargetReference
	return owner != nil && pod.Labels["app"] == target.Name && (owner.Kind == target.Kind || target.Kind == "Deployment" && owner.Kind == "ReplicaSet")
}

// subsetNamed is the subset that a pod names; empty for none.
func (w *workloadSpread) subsetNamed(pod *corev1.Pod) string {
	var says distributionv1alpha1.MatchedWorkloadSpread
	if json.Unmarshal([]byte(pod.Annotations[distributionv1alpha1.MatchedWorkloadSpreadAnnotation]), &says) != nil || says.Name != latest(w.counting).Name {
		return ""
	}
	return says.Subset
}

// judgeSpreadPod: a pod is created in a subset that has room for it. Only pods of its revision take room: those of others will go, and
// give it room then. If webhooks place pods, those in flight do not count: what one replica has decided the other does not know. A pod
// stays in its subset, and runs there.
func (j *Judge) judgeSpreadPod(v *verdict, c Change) {
	pod, is := c.New.(*corev1.Pod)
	if !is {
		return
	}
	for _, w := range j.spreads {
		if !w.owns(pod) {
			continue
		}
		subset := w.subsetNamed(pod)
		judgeZone(v, pod, subset)
		if old, was := c.Old.(*corev1.Pod); was {
			v.expect(w.subsetNamed(old) == subset, invariants.Placement, "moved from subset %q to %q", w.subsetNamed(old), subset)
			continue
		}
		v.expect(subset != "" && slices.Equal(zonesOf(&pod.Spec), []string{subset}), invariants.Placement, "created in subset %q and the zones %q", subset, zonesOf(&pod.Spec))
		if v.gap {
			continue
		}
		most, has := w.most(subset), int32(1)
		for uid, other := range j.spreadPods(w) {
			young := pod.CreationTimestamp.Sub(other.CreationTimestamp.Time) < inFlight
			if uid != pod.UID && w.subsetNamed(other) == subset && revisionHash(other) == revisionHash(pod) && !(young && metav1.GetControllerOfNoCopy(pod).Kind == "ReplicaSet") {
				has++
			}
		}
		v.expect(most < 0 || has <= most, invariants.Placement, "created in subset %s, which has room for %d, and has %d of its revision now", subset, most, has)
	}
}

// most is how many pods a subset takes by the specs that count. It is -1 for as many as come, and 0 for a subset that does not
// exist.
func (w *workloadSpread) most(subset string) (most int32) {
	for _, ws := range w.counting {
		for i := range ws.Spec.Subsets {
			if ws.Spec.Subsets[i].Name != subset {
				continue
			}
			n := number(ws.Spec.Subsets[i].MaxReplicas)
			if n < 0 {
				return -1
			}
			most = max(most, n)
		}
	}
	return most
}

// judgeSpreadsSettled: the status counts the pods of each subset, and those beyond its limit go first. If all pods are of a revision that
// is younger than the last change of limits and of the number of pods, none is beyond.
func (j *Judge) judgeSpreadsSettled() (wrong []invariants.Violation) {
	for _, w := range j.spreads {
		ws := latest(w.counting)
		w.counting = []*distributionv1alpha1.WorkloadSpread{ws}
		v := &verdict{about: "WorkloadSpread " + ws.Name}
		pods := j.spreadPods(w)
		costs, counts, fresh := map[string]int32{}, map[string]int32{}, ws.Spec.TargetReference.Kind == "CloneSet"
		for _, pod := range pods {
			subset := w.subsetNamed(pod)
			judgeZone(v, pod, subset)
			counts[subset]++
			costs[subset+" "+pod.Annotations[corev1.PodDeletionCost]]++
			fresh = fresh && !w.seen[revisionHash(pod)]
		}
		v.expect(ws.Status.ObservedGeneration == ws.Generation && len(ws.Status.SubsetStatuses) == len(ws.Spec.Subsets), invariants.Status, "generation %d, status %+v", ws.Generation, ws.Status)
		left := int32(len(pods))
		for i, subset := range ws.Spec.Subsets {
			limit, n := number(subset.MaxReplicas), counts[subset.Name]
			within, share, missing := n, left, int32(-1)
			if limit >= 0 {
				within, share, missing = min(n, limit), min(left, limit), max(limit-n, 0)
			}
			left -= share
			v.expect(!fresh || n == share, invariants.Settled, "subset %s has %d pods, and should have %d: all were created since", subset.Name, n, share)
			cost := func(n int) int32 { return costs[subset.Name+" "+strconv.Itoa(n)] }
			v.expect(cost(100*(len(ws.Spec.Subsets)-i)) == within && cost(-100*(i+1)) == n-within, invariants.Order, "subset %s has %d pods within its limit, and %d beyond: %v", subset.Name, within, n-within, costs)
			if i < len(ws.Status.SubsetStatuses) {
				st := &ws.Status.SubsetStatuses[i]
				v.expect(st.Name == subset.Name && st.Replicas == n && st.MissingReplicas == missing, invariants.Status, "subset %s has %d pods and misses %d, the status says %+v", subset.Name, n, missing, *st)
			}
			delete(counts, subset.Name)
		}
		v.expect(len(counts) == 0, invariants.Settled, "pods in no subset: %v", counts)
		wrong = append(wrong, v.wrong...)
	}
	return wrong
}
