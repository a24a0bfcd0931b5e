// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// zones is a world in which each subset has room for so many pods. The controllers of the
// workloads, the scheduler and the kubelets work there, and time goes by.
type zones struct {
	*world
	kind TemplateKind
	room map[string]int
	// slow are subsets in which pods stay unready once they run.
	slow  map[string]bool
	names int
}

// start is the time at which a world of zones begins.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newZones(t testing.TB, kind TemplateKind, room map[string]int, lines ...string) *zones {
	z := &zones{world: newWorld(t, newSet(t, append(lines, templateYAML(kind, ""))...)), kind: kind, room: maps.Clone(room), slow: map[string]bool{}}
	z.Features.AdaptiveScheduling, z.Now = true, start
	return z
}

// of returns the pods of a subset, in the order in which its workload deletes them.
func (z *zones) of(c *Child) (pods []*corev1.Pod) {
	for _, pod := range z.Pods {
		if subsetOf(pod.Labels) == c.Subset {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		if z.ordered() {
			return cmp.Compare(rank(c, b.Name), rank(c, a.Name))
		}
		worth := func(pod *corev1.Pod) int { return len(pod.Spec.NodeName) + 2*len(pod.Status.Conditions) }
		return cmp.Or(cmp.Compare(worth(a), worth(b)), cmp.Compare(b.Name, a.Name))
	})
	return pods
}

// delete deletes a pod.
func (z *zones) delete(gone *corev1.Pod) {
	z.Pods = slices.DeleteFunc(z.Pods, func(pod *corev1.Pod) bool { return pod == gone })
}

// tick plans, does what is planned, has everybody else work, and lets time go by.
func (z *zones) tick(by time.Duration) *Plan {
	plan := z.plan()
	z.scale()
	z.update()
	z.schedule()
	z.Now = z.Now.Add(by)
	return plan
}

// plan plans, and does what is planned.
func (z *zones) plan() *Plan {
	z.Helper()
	plan := NewPlan(&z.Snapshot)
	z.do(plan)
	for _, pod := range plan.Reserve {
		z.replace(pod, func(pod *corev1.Pod) { pod.Labels[v1alpha1.ReservedPodLabel] = "true" })
	}
	for _, pod := range plan.Unreserve {
		z.replace(pod, func(pod *corev1.Pod) { delete(pod.Labels, v1alpha1.ReservedPodLabel) })
	}
	return plan
}

func (z *zones) replace(pod *corev1.Pod, change func(*corev1.Pod)) {
	at := slices.Index(z.Pods, pod)
	z.Pods[at] = pod.DeepCopy()
	change(z.Pods[at])
}

// scale plays the controllers of the workloads when pods are too many.
func (z *zones) scale() {
	for _, c := range z.children() {
		pods := z.of(&c)
		for len(pods) > 0 && (len(pods) > int(c.Replicas) || z.ordered() && rank(&c, pods[0].Name) >= c.Replicas) {
			z.delete(pods[0])
			pods = pods[1:]
		}
	}
}

// ordered tells whether pods have ordinals.
func (z *zones) ordered() bool { return strings.HasSuffix(string(z.kind), "StatefulSet") }

// update plays the controllers of the workloads: each updates one pod at a time, and creates
// those that are missing.
func (z *zones) update() {
	for _, c := range z.children() {
		pods := z.of(&c)
		updating := slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return len(pod.Status.Conditions) == 0 && pod.Spec.NodeName != "" })
		for _, pod := range pods {
			if pod.Labels[v1alpha1.SubsetRevisionLabel] != c.Revision && (!updating || pod.Spec.NodeName == "") {
				z.delete(pod)
				break
			}
		}
		for i := 0; len(z.of(&c)) < int(c.Replicas); i++ {
			name := fmt.Sprint(c.Object.GetName(), "-", i)
			if !z.ordered() {
				z.names++
				name = fmt.Sprintf("%s-x%05d", c.Object.GetName(), z.names)
			}
			if slices.ContainsFunc(z.Pods, func(pod *corev1.Pod) bool { return pod.Name == name }) {
				continue
			}
			pod := z.pod(name, c.Object, c.Revision, false)
			pod.CreationTimestamp, pod.Status.Phase = metav1.NewTime(z.Now), corev1.PodPending
			if z.kind == Deployment {
				pod.OwnerReferences[0].Kind = "ReplicaSet"
			}
		}
		z.report(&c)
	}
}

// report writes the status of a workload.
func (z *zones) report(c *Child) {
	n := int32(len(z.of(c)))
	switch o := c.Object.(type) {
	case *appsv1.StatefulSet:
		edited(z.world, o, func(o *appsv1.StatefulSet) { o.Status.Replicas = n })
	case *v1beta1.StatefulSet:
		edited(z.world, o, func(o *v1beta1.StatefulSet) { o.Status.Replicas = n })
	case *v1alpha1.CloneSet:
		edited(z.world, o, func(o *v1alpha1.CloneSet) { o.Status.Replicas = n })
	case *appsv1.Deployment:
		edited(z.world, o, func(o *appsv1.Deployment) { o.Status.Replicas = n })
	}
}

// schedule plays the scheduler and the kubelets: pods that have a node become ready, then
// pods get nodes while there is room.
func (z *zones) schedule() {
	used := map[string]int{}
	for _, pod := range z.Pods {
		if subset := subsetOf(pod.Labels); pod.Spec.NodeName != "" {
			used[subset]++
			if !z.slow[subset] && !ready(pod) {
				z.replace(pod, func(pod *corev1.Pod) {
					pod.Status.Phase = corev1.PodRunning
					pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
				})
			}
		}
	}
	for _, pod := range z.Pods {
		subset := subsetOf(pod.Labels)
		if pod.Spec.NodeName != "" {
			continue
		}
		if used[subset] < z.room[subset] {
			used[subset]++
			z.replace(pod, func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Status.Conditions = subset, nil })
		} else if !Unscheduled(pod) {
			z.replace(pod, func(pod *corev1.Pod) {
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
			})
		}
	}
}

// evict takes nodes from a subset: pods beyond its room go, the youngest first.
func (z *zones) evict(subset string, room int) {
	z.room[subset] = room
	var with []*corev1.Pod
	for _, pod := range z.Pods {
		if subsetOf(pod.Labels) == subset && pod.Spec.NodeName != "" {
			with = append(with, pod)
		}
	}
	for len(with) > room {
		z.delete(with[len(with)-1])
		with = with[:len(with)-1]
	}
}

// Unscheduled tells whether the scheduler has said that a pod finds no node.
func Unscheduled(pod *corev1.Pod) bool {
	return len(pod.Status.Conditions) == 1 && pod.Status.Conditions[0].Type == corev1.PodScheduled
}

func ready(pod *corev1.Pod) bool {
	return len(pod.Status.Conditions) == 1 && pod.Status.Conditions[0].Type == corev1.PodReady
}

// ready counts the ready pods.
func (z *zones) ready() (n int32) {
	for _, pod := range z.Pods {
		if ready(pod) {
			n++
		}
	}
	return n
}

// String shows the zones: what each is to have, and what it has ready.
func (z *zones) String() string {
	var all []string
	for _, subset := range z.Set.Spec.Topology.Subsets {
		c, n, marked := z.set(subset.Name), 0, 0
		for _, pod := range z.of(&c) {
			if ready(pod) {
				n++
			}
			if pod.Labels[v1alpha1.ReservedPodLabel] != "" {
				marked++
			}
		}
		text := fmt.Sprintf("%s %d/%d", subset.Name, n, c.Replicas)
		if marked > 0 {
			text += fmt.Sprint(" reserved ", marked)
		}
		for i := range z.Set.Status.SubsetStatuses {
			if s := &z.Set.Status.SubsetStatuses[i]; s.Name == subset.Name && schedulable(s).Status == corev1.ConditionFalse {
				text += " closed"
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// after lets seconds go by, one by one, and shows the zones.
func (z *zones) after(seconds int) string {
	z.Helper()
	for range seconds {
		z.tick(time.Second)
	}
	return z.String()
}
