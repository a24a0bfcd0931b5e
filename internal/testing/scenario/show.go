// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
)

// ShowRevisions writes which revisions a plan adopts, creates and raises.
func (w *Cluster) ShowRevisions(c *revision.Changes, out *strings.Builder) {
	for _, r := range c.Adopt {
		fmt.Fprintf(out, "  adopt revision %s\n", r.Name)
	}
	if r := c.Create; r != nil {
		fmt.Fprintf(out, "  create revision %s (%d)\n", r.Name, r.Revision)
	}
	if r := c.Raise; r != nil {
		fmt.Fprintf(out, "  raise revision %s to %d\n", r.Name, c.RaiseTo)
	}
}

// ShowDeletedRevisions writes which revisions a plan deletes.
func (w *Cluster) ShowDeletedRevisions(c *revision.Changes, out *strings.Builder) {
	for _, r := range c.Delete {
		fmt.Fprintf(out, "  delete revision %s\n", r.Name)
	}
}

// ShowCreations writes which pods a plan creates, by revision: how many if
// their names mean nothing.
func (w *Cluster) ShowCreations(creations []rollout.PodCreation, out *strings.Builder) {
	byRevision := map[string][]*corev1.Pod{}
	var order []string
	for _, c := range creations {
		name := c.Pod.Labels[appsv1.ControllerRevisionHashLabelKey]
		if len(c.Claims) > 0 {
			name += " with claims"
		}
		if byRevision[name] == nil {
			order = append(order, name)
		}
		byRevision[name] = append(byRevision[name], c.Pod)
	}
	for _, name := range order {
		which := fmt.Sprint(len(byRevision[name]))
		if !w.GeneratedNames {
			which = w.aliases(byRevision[name])
		}
		fmt.Fprintf(out, "  create %s at %s\n", which, name)
	}
}

// patchOrder is the order in which patches are shown; other kinds follow.
var patchOrder = []rollout.PatchKind{
	rollout.PatchAdopt, rollout.PatchCancelDelete, rollout.PatchRelease, rollout.PatchIdentify, rollout.PatchRefresh,
	rollout.PatchPrepare, rollout.PatchUpdateInPlace,
}

// ShowPatches writes which pods a plan patches, and what for.
func (w *Cluster) ShowPatches(patches []rollout.PodPatch, out *strings.Builder) {
	order := slices.Clone(patchOrder)
	byKind := map[rollout.PatchKind][]*corev1.Pod{}
	for _, p := range patches {
		byKind[p.Kind] = append(byKind[p.Kind], p.Pod)
		if !slices.Contains(order, p.Kind) {
			order = append(order, p.Kind)
		}
	}
	for _, kind := range order {
		if pods := byKind[kind]; len(pods) > 0 {
			fmt.Fprintf(out, "  %s %s\n", kind, w.aliases(pods))
		}
	}
}

// showWaits writes which pods wait for what.
func (w *Cluster) showWaits(waits []rollout.Wait, out *strings.Builder) {
	byReason := map[string][]*corev1.Pod{}
	var order []string
	for _, wait := range waits {
		text := w.Unalias(wait.Reason.String())
		if _, seen := byReason[text]; !seen {
			order = append(order, text)
			byReason[text] = nil
		}
		if wait.Pod != nil {
			byReason[text] = append(byReason[text], wait.Pod)
		}
	}
	for _, text := range order {
		fmt.Fprintf(out, "  wait %s: %s\n", w.aliases(byReason[text]), text)
	}
}

// ShowPods writes a line for every pod: by age if names mean nothing,
// otherwise by name.
func (w *Cluster) ShowPods(minReadySeconds int32, out *strings.Builder) {
	pods := slices.Clone(w.Pods)
	if !w.GeneratedNames {
		slices.SortFunc(pods, func(a, b *corev1.Pod) int { return compareNames(a.Name, b.Name) })
	}
	for _, pod := range pods {
		image, restarts := pod.Spec.Containers[0].Image, int32(0)
		if len(pod.Status.ContainerStatuses) > 0 {
			restarts = pod.Status.ContainerStatuses[0].RestartCount
		}
		fmt.Fprintf(out, "%s %s %s restarts=%d %s %s\n", w.Alias(pod.Name), pod.Labels[appsv1.ControllerRevisionHashLabelKey],
			image, restarts, lifecycle.StateOf(pod), w.service(pod, minReadySeconds))
	}
}

// service says in a word whether a pod serves, or why it never will.
func (w *Cluster) service(pod *corev1.Pod, minReadySeconds int32) string {
	switch {
	case !w.Graceful && !active(pod):
		return "gone"
	case pod.DeletionTimestamp != nil:
		return "terminating"
	case ended(pod):
		return strings.ToLower(string(pod.Status.Phase))
	case lifecycle.Available(pod, minReadySeconds, w.Now):
		return "available"
	}
	return "unavailable"
}

// ShowClaimCreations writes which claims a plan creates for pods that exist.
func (w *Cluster) ShowClaimCreations(claims []*corev1.PersistentVolumeClaim, out *strings.Builder) {
	for _, claim := range claims {
		fmt.Fprintf(out, "  create claim %s\n", w.Unalias(claim.Name))
	}
}

// ShowOwners writes which owners a plan gives to a claim.
func (w *Cluster) ShowOwners(claim *corev1.PersistentVolumeClaim, owners []metav1.OwnerReference, out *strings.Builder) {
	fmt.Fprintf(out, "  own claim %s by", w.Unalias(claim.Name))
	for _, owner := range owners {
		fmt.Fprintf(out, " %s/%s", owner.Kind, w.Unalias(owner.Name))
	}
	if len(owners) == 0 {
		fmt.Fprint(out, " no owner")
	}
	fmt.Fprintln(out)
}

// showClaims writes a line for every claim, by name, with its owners.
func (w *Cluster) showClaims(out *strings.Builder) {
	claims := slices.SortedFunc(slices.Values(w.Claims), func(a, b *corev1.PersistentVolumeClaim) int { return compareNames(a.Name, b.Name) })
	for _, claim := range claims {
		fmt.Fprint(out, w.Unalias(claim.Name))
		for i, owner := range claim.OwnerReferences {
			if i == 0 {
				fmt.Fprint(out, " owned by")
			}
			fmt.Fprintf(out, " %s/%s", owner.Kind, w.Unalias(owner.Name))
			if live, _ := w.liveOwners(claim.OwnerReferences[i : i+1]); len(live) == 0 {
				fmt.Fprint(out, " (gone)")
			}
		}
		if claim.DeletionTimestamp != nil {
			fmt.Fprint(out, " terminating")
		}
		fmt.Fprintln(out)
	}
}

// compareNames orders web-2 before web-10.
func compareNames(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
