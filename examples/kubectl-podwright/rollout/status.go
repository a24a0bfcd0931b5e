// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	inplace "github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/conversion"
)

// statusViewer says how far a rollout is.
type statusViewer struct{ *revisions }

// Status returns a line about the rollout of a workload, and whether it is over. A revision other than 0 that is not
// the one being rolled out is an error. (KC-4)
func (v *statusViewer) Status(obj runtime.Unstructured, number int64) (string, bool, error) {
	o := &workload.Object{Unstructured: unstructured.Unstructured{Object: obj.UnstructuredContent()}}
	p := readProgress(o)
	if p == nil {
		return "", false, fmt.Errorf("no status viewer has been implemented for %s", o.GetKind())
	}
	if o.GetGeneration() > integer(o, "status", "observedGeneration") || integer(o, "status", "observedGeneration") == 0 {
		return fmt.Sprintf("Waiting for %s spec update to be observed...\n", o.Kind().Words), false, nil
	}
	if number > 0 {
		if err := v.pinned(o, number); err != nil {
			return "", false, err
		}
	}
	return p.line(o)
}

// pinned returns an error if the update revision of a workload does not have this number.
func (v *statusViewer) pinned(o *workload.Object, number int64) error {
	name := updateRevision(o)
	if name == "" {
		return fmt.Errorf("the status of %s %q does not name its revision", o.Kind().Words, o.GetName())
	}
	history, err := v.of(context.TODO(), o)
	if err != nil {
		return fmt.Errorf("cannot get the revisions of %s %q: %w", o.Kind().Words, o.GetName(), err)
	}
	at := slices.IndexFunc(history, func(r *appsv1.ControllerRevision) bool { return r.Name == name })
	if at < 0 {
		return fmt.Errorf("revision %s of %s %q is gone", name, o.Kind().Words, o.GetName())
	}
	if r := history[at]; r.Revision != number {
		return fmt.Errorf("desired revision (%d) is different from the running revision (%d)", number, r.Revision)
	}
	return nil
}

// updateRevision returns the name of the revision of the template, as the status has it; empty if it has none.
func updateRevision(o *workload.Object) string {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(o.Object, append([]string{"status"}, path...)...)
		return value
	}
	if hash := cmp.Or(text("daemonSetHash"), text("updateRevision")); o.GetKind() == "DaemonSet" && hash != "" {
		return o.GetName() + "-" + strings.TrimPrefix(hash, o.GetName()+"-")
	}
	return cmp.Or(text("updateRevision"), text("updateStatus", "updatedRevision"), text("latestRevision"))
}

// progress is what a rollout is judged by.
type progress struct {
	// want is the number of pods in all, and updated how many are to be at the update revision, which are fewer
	// if a partition holds some back.
	want, wantUpdated int64
	// have counts the pods there are, updated those at the update revision, and ready those of the updated ones that serve.
	have, updated, ready int64
	// allReady says that ready counts the pods of all revisions.
	allReady bool
	// onDelete says that the pods are updated when a user deletes them.
	onDelete bool
}

// readProgress reads spec and status of a workload; nil for a kind that has no rollout.
func readProgress(o *workload.Object) *progress {
	status := func(field string) int64 { return integer(o, "status", field) }
	replicas := int64(1)
	if n, found, _ := unstructured.NestedInt64(o.Object, "spec", "replicas"); found {
		replicas = n
	}
	switch o.GetKind() {
	case "CloneSet":
		p := &progress{want: replicas, wantUpdated: status("expectedUpdatedReplicas"), have: status("replicas"),
			updated: status("updatedReplicas"), ready: status("updatedReadyReplicas")}
		if available, found, _ := unstructured.NestedInt64(o.Object, "status", "updatedAvailableReplicas"); found {
			p.ready = available // of later versions, which count minReadySeconds
		}
		return p
	case "StatefulSet":
		return &progress{want: replicas, wantUpdated: max(replicas-partition(o, replicas, "rollingUpdate"), 0), have: status("replicas"),
			updated: status("updatedReplicas"), ready: status("readyReplicas"), allReady: true, onDelete: strategy(o) == "OnDelete"}
	case "DaemonSet":
		want := status("desiredNumberScheduled")
		return &progress{want: want, wantUpdated: max(want-nodesHeldBack(o, want), 0), have: status("currentNumberScheduled"),
			updated: status("updatedNumberScheduled"), ready: status("numberAvailable"), allReady: true, onDelete: strategy(o) == "OnDelete"}
	case "UnitedDeployment":
		return &progress{want: replicas, wantUpdated: max(replicas-partitions(o), 0), have: status("replicas"),
			updated: status("updatedReplicas"), ready: status("updatedReadyReplicas")}
	case "SidecarSet":
		want := status("matchedPods")
		return &progress{want: want, wantUpdated: max(want-partition(o, want), 0), have: want,
			updated: status("updatedPods"), ready: status("updatedReadyPods"), onDelete: strategy(o) == "NotUpdate"}
	}
	return nil
}

// line says what is missing first, in kubectl's words.
func (p *progress) line(o *workload.Object) (string, bool, error) {
	words, name := o.Kind().Words, o.GetName()
	wantReady := p.wantUpdated
	if p.allReady {
		wantReady = p.want
	}
	switch waiting := fmt.Sprintf("Waiting for %s %q rollout to finish: ", words, name); {
	case p.onDelete:
		return "", true, fmt.Errorf("rollout status is not available for the strategy %s", strategy(o))
	case p.updated < p.wantUpdated:
		return fmt.Sprintf("%s%d out of %d new pods have been updated...\n", waiting, p.updated, p.wantUpdated), false, nil
	case p.have > p.want:
		return fmt.Sprintf("%s%d old pods are pending termination...\n", waiting, p.have-p.want), false, nil
	case p.have < p.want:
		return fmt.Sprintf("%s%d out of %d pods have been created...\n", waiting, p.have, p.want), false, nil
	case p.ready < wantReady:
		return fmt.Sprintf("%s%d of %d updated pods are available...\n", waiting, p.ready, wantReady), false, nil
	case p.wantUpdated < p.want:
		return fmt.Sprintf("partitioned roll out complete: %d new pods have been updated...\n", p.updated), true, nil
	}
	return fmt.Sprintf("%s %q successfully rolled out\n", words, name), true, nil
}

func integer(o *workload.Object, path ...string) int64 {
	n, _, _ := unstructured.NestedInt64(o.Object, path...)
	return n
}

func strategy(o *workload.Object) string {
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "updateStrategy", "type")
	return kind
}

// partition returns how many of the pods an update leaves out; a percentage is rounded down, as SidecarSets do.
func partition(o *workload.Object, of int64, within ...string) int64 {
	path := append(append([]string{"spec", "updateStrategy"}, within...), "partition")
	value, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	switch value := value.(type) {
	case int64:
		return value
	case string:
		parsed := intstr.FromString(value)
		n, _ := intstr.GetScaledValueFromIntOrPercent(&parsed, int(of), false)
		return int64(n)
	}
	return 0
}

// nodesHeldBack returns how many of the nodes an update of a DaemonSet leaves out, of whichever version it is.
func nodesHeldBack(o *workload.Object, of int64) int64 {
	set, err := o.DaemonSet()
	if err != nil {
		return partition(o, of, "rollingUpdate")
	}
	n, _ := inplace.Partition(conversion.DaemonSetPartition(set), int32(of))
	return int64(n)
}

// partitions adds the partitions of a UnitedDeployment's subsets up.
func partitions(o *workload.Object) (sum int64) {
	by, _, _ := unstructured.NestedMap(o.Object, "status", "updateStatus", "currentPartitions")
	for _, value := range by {
		n, _ := value.(int64)
		sum += n
	}
	return sum
}
