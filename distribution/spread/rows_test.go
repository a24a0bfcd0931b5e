// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// row is a line of testdata/rows.
type row struct {
	// Spread is the WorkloadSpread web of a Deployment, and Spec its spec. Closed are subsets that take no pods since a second ago.
	Spread *v1alpha1.WorkloadSpread
	Spec   *v1alpha1.WorkloadSpreadSpec
	Closed []string
	// Workload is the Deployment web, which wants 9 pods. PathFails has it be unknown how many it wants. OwnerWants are those of the ReplicaSet.
	Workload   *Workload
	PathFails  bool
	OwnerWants *int32
	// Pod is a new one of the ReplicaSet web-1, and Pods those that there are, as scripts of testdata/plans have them.
	Pod  *corev1.Pod
	Pods []string
	// Reserved are the key of a reservation, a subset and how long ago that was; "never" if that is not known. Key is that of the next one.
	Reserved []string
	Key      string
	// Node is the node of all pods.
	Node *corev1.Node
	// Old is what the WorkloadSpread was before, and Above are what controls the workload of the ReplicaSet web-1, from below, as Kind.group/name.
	Old   *v1alpha1.WorkloadSpread
	Above []string
	// All are WorkloadSpreads, of which those that have nothing else are of the Deployment web.
	All []*v1alpha1.WorkloadSpread
	// List is a white list.
	List string
	// Content is what stands in the workload, and Paths are those of how many pods are wanted.
	Content json.RawMessage
	Paths   []string
}

// TestRows plays the tables of spreads, see patches.PlayRows. They show:
//
//	assign     to which subset a new pod goes
//	inject     what it gets there
//	adopt      which pods are adopted
//	count      the same, with what pods cost
//	status     what stands in the status, which is not written again
//	patches    what is wrong with patches
//	whitelist  what is read of a white list
//	holder     which of several WorkloadSpreads has the Deployment web, in whatever order they are listed
//	conflict   whether the WorkloadSpread and the old one are of the same pods
//	update     what admission says of a change
//	paths      how many pods are wanted, by paths
func TestRows(t *testing.T) {
	blank := func() row {
		ws := spreadOf(t, "{}")
		return row{Old: spreadOf(t, "{}"), Spread: ws, Spec: &ws.Spec, Workload: deployment(9), Pod: unnamed(), Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}}}
	}
	patches.PlayRows(t, "testdata/rows", blank, func(t *testing.T, command string, r *row) string {
		switch command {
		case "assign":
			got := assign(r.input(t))
			return fmt.Sprintf("%q, counted %t, beyond %t: %s", got.Subset, got.Counted, got.Beyond, got.Why)
		case "inject":
			return injected(t, r.input(t))
		case "adopt", "count":
			return counted(t, r, command == "count")
		case "status":
			return status(t, r)
		case "whitelist":
			list, err := ReadWhitelist(map[string]string{v1alpha1.WorkloadSpreadWhitelistKey: r.List})
			if err != nil {
				return decoding.ReplaceAllString(err.Error(), "$1")
			}
			return patches.JSON(t, list)
		case "holder":
			return holder(t, r.All)
		case "conflict":
			return fmt.Sprint(r.conflict(r.Spread, r.Old), ", and in reverse ", r.conflict(r.Old, r.Spread))
		case "update":
			return fmt.Sprint(ValidateUpdate(r.Spread, r.Old))
		case "patches":
			said := ""
			for _, err := range ValidatePatches(r.Spread, r.Workload.Selector) {
				said += err.Error() + "\n"
			}
			return said + injected(t, r.input(t))
		}
		var content map[string]any
		if err := utiljson.Unmarshal(r.Content, &content); err != nil {
			t.Fatal(err)
		}
		r.Spec.TargetFilter = &v1alpha1.TargetFilter{ReplicasPathList: r.Paths}
		n, err := FilteredReplicas(r.Spread, content)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(n)
	})
}

func (r *row) input(t *testing.T) Input {
	in := Input{Pod: r.Pod, Spread: r.Spread, Workload: r.Workload, OwnerWants: r.OwnerWants, Pods: r.pods(t), Key: r.Key, Now: now}
	if r.PathFails {
		_, r.Workload.Unknown = ReplicasAt(map[string]any{"spec": map[string]any{}}, "spec.replica")
	}
	for _, subset := range r.Closed {
		r.Spec.ScheduleStrategy = v1alpha1.WorkloadSpreadScheduleStrategy{Type: "Adaptive",
			Adaptive: &v1alpha1.AdaptiveWorkloadSpreadStrategy{RescheduleCriticalSeconds: new(int32(30))}}
		before(r.Spread, subset, corev1.ConditionFalse, time.Second)
	}
	for _, text := range r.Reserved {
		words := strings.Fields(text)
		kept := Reservation{Key: words[0], Subset: words[1], Owner: "web-1", Revision: "1", Expires: now}
		if ago, err := time.ParseDuration(words[2]); err == nil {
			kept.Since, kept.Expires = now.Add(-ago), now.Add(ReservedFor-ago)
		}
		in.Reservations = append(in.Reservations, kept)
	}
	return in
}

func (r *row) pods(t *testing.T) []*corev1.Pod {
	l := &line{t: t}
	for _, text := range r.Pods {
		l.read(text)
	}
	return l.pods
}

// injected shows what a new pod gets. The pod that is given does not change, and the new one keeps its subset, for which it is not counted again. (WS-6)
func injected(t *testing.T, in Input) string {
	before := in.Pod.DeepCopy()
	result, err := Inject(in)
	if diff := cmp.Diff(before, in.Pod); diff != "" {
		t.Errorf("the given pod (-before +after) %s", diff)
	}
	if err != nil {
		return "refused: " + decoding.ReplaceAllString(err.Error(), "$1")
	}
	if result.Pod == in.Pod {
		return "unchanged"
	}
	if in.Key != "" && result.Counted {
		again := in
		again.Pod, again.Key, again.Reservations = result.Pod, "another", append(slices.Clip(in.Reservations), result.Reservation)
		if next, err := Inject(again); err != nil || next.Counted || !cmp.Equal(result.Pod, next.Pod) {
			t.Errorf("WS-6: again: error %v, %+v", err, next)
		}
	}
	got := result.Pod
	return fmt.Sprintf("counted %t, labels %v\nannotations %v\n%s", result.Counted, got.Labels, got.Annotations, patches.JSON(t, got.Spec))
}

// decoding is what libraries say of bytes that they cannot decode, which is not shown.
var decoding = regexp.MustCompile(`(pod is none|patch of a pod|no white list such as [^ ]+): .*`)

// counted shows what is computed of pods, perhaps with what they cost.
func counted(t *testing.T, r *row, costs bool) string {
	in := r.input(t)
	got := Compute(State{Spread: r.Spread, Workload: r.Workload, Pods: in.Pods, Node: func(string) *corev1.Node { return r.Node }, Now: now})
	lines := show(got)
	if !costs {
		lines = unpriced(lines)
	}
	for _, a := range got.Adopt {
		if len(a.Labels) > 0 || len(a.Annotations) > 1 {
			lines = append(lines, "labels "+patches.JSON(t, a.Labels)+", annotations "+patches.JSON(t, a.Annotations))
		}
	}
	return strings.Join(lines, "\n")
}

func holder(t *testing.T, all []*v1alpha1.WorkloadSpread) string {
	of := func(ws *v1alpha1.WorkloadSpread) bool {
		return ws.Spec.TargetReference == nil || Targets(ws, Deployments, "web")
	}
	has := Holder(all, of)
	slices.Reverse(all)
	if again := Holder(all, of); again != has {
		t.Errorf("WS-22: in reverse %v has it, and not %v", again, has)
	}
	if has == nil {
		return "none"
	}
	return has.Name
}

// conflict tells whether two WorkloadSpreads are of the same pods.
func (r *row) conflict(a, b *v1alpha1.WorkloadSpread) bool {
	return Conflict(a, b, func(ws *v1alpha1.WorkloadSpread) (above []Named) {
		if !Targets(ws, ReplicaSets, "web-1") {
			return nil
		}
		for _, text := range r.Above {
			kind, name, _ := strings.Cut(text, "/")
			above = append(above, Named{GroupKind: schema.ParseGroupKind(kind), Name: name})
		}
		return above
	})
}

// status shows the status that is computed.
func status(t *testing.T, r *row) string {
	state := State{Spread: r.Spread, Workload: r.Workload, Pods: r.pods(t), Now: now}
	got := Compute(state)
	changed := !Equal(&r.Spread.Status, &got.Status)
	r.Spread.Status = got.Status
	if again := Compute(state).Status; !Equal(&got.Status, &again) {
		t.Errorf("WS-20: it is written again: %s", cmp.Diff(got.Status, again))
	}
	said := fmt.Sprintf("changed %t, of generation %d", changed, got.Status.ObservedGeneration)
	if got.RequeueAfter > 0 {
		said += fmt.Sprint(", again after ", got.RequeueAfter)
	}
	for _, subset := range got.Status.SubsetStatuses {
		said += "\n" + patches.JSON(t, subset)
	}
	return said
}
