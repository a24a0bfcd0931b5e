// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// came shows what came of a step of the controller. What is done at the same time is shown in order.
func (w *world) came(err error) {
	if err != nil {
		lines := strings.Split(err.Error(), "\n")
		slices.Sort(lines)
		fmt.Fprintln(&w.out, "error:", strings.Join(lines, "\n       "))
	}
	if err != nil && WorthRetrying(err) == nil {
		fmt.Fprintln(&w.out, "not worth retrying")
	}
	events := slices.Sorted(slices.Values(w.c.Events.All()))
	if len(events) > 20 { // of which some are not told
		events = []string{fmt.Sprint(len(events), " events")}
	}
	for _, line := range slices.Concat(w.requests(), events) {
		fmt.Fprintln(&w.out, line)
	}
	w.ForgetRequests()
	w.c.Events.Forget()
	written := map[podwright.Resource]string{}
	for {
		missing, err := w.Own.Pending(w.Key, func(resource podwright.Resource) string {
			if written[resource] != "" {
				return ""
			}
			return "1"
		}, time.Now())
		if w.c.Must(err); missing == (apiwriter.Missing{}) {
			break
		}
		written[missing.Resource] = missing.Wrote
	}
	for _, resource := range slices.Sorted(maps.Keys(written)) {
		fmt.Fprintln(&w.out, "waits for", resource)
		w.Own.Wrote(w.Key, resource, written[resource])
	}
	for _, lost := range w.lost() {
		fmt.Fprintln(&w.out, "looks for", lost)
	}
}

// show shows what there is.
func (w *world) show(s step) bool {
	ctx := w.c.T.Context()
	owners := func(o metav1.Object) (uids []string) {
		for _, r := range o.GetOwnerReferences() {
			uids = append(uids, string(r.UID))
		}
		slices.Sort(uids)
		return uids
	}
	switch s.name {
	case "set":
		var set v1beta1.StatefulSet
		if err := w.read(&set); apierrors.IsNotFound(err) {
			fmt.Fprintln(&w.out, "no set")
			return true
		}
		fmt.Fprintf(&w.out, "%d pods, %d collisions, finalizers %v\n", set.Status.Replicas, ptr.Deref(set.Status.CollisionCount, 0), set.Finalizers)
		if set.Status.ReadyReplicas > 0 {
			fmt.Fprintln(&w.out, set.Status.ReadyReplicas, "are ready, the current revision is", strconv.Quote(set.Status.CurrentRevision))
		}
		for _, c := range set.Status.Conditions {
			fmt.Fprintf(&w.out, "condition %s: %s\n", c.Type, c.Message)
		}
	case "claims":
		list, err := w.c.Kube.CoreV1().PersistentVolumeClaims("default").List(ctx, metav1.ListOptions{})
		w.c.Must(err)
		for i := range list.Items {
			fmt.Fprintln(&w.out, list.Items[i].Name, "owners", owners(&list.Items[i]))
		}
	case "revisions":
		list, err := w.c.Kube.AppsV1().ControllerRevisions(cmp.Or(w.RevisionNamespace, "default")).List(ctx, metav1.ListOptions{})
		w.c.Must(err)
		for i := range list.Items {
			fmt.Fprintln(&w.out, list.Items[i].Name, "revision", list.Items[i].Revision, "owners", owners(&list.Items[i]))
		}
	case "refused":
		all := slices.SortedFunc(maps.Values(w.pods), func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
		for _, pod := range all {
			if w.Refused(w.set, all, w.a.Now).Pods[pod.UID] != nil {
				fmt.Fprintln(&w.out, "refused:", pod.Name)
			}
		}
	default:
		return false
	}
	return true
}
