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

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/examples/process/switches"
	inplace "github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/statefulset"
	"github.com/podwright/podwright/workloads/uniteddeployment"
)

// statusViewer says how far a rollout is.
type statusViewer struct {
	*revisions
	gates func() (*features.Gates, error)
}

// Status returns a line about the rollout of a workload, and whether it is over. A revision other than 0 that is not
// the one being rolled out is an error. (KC-4)
func (v *statusViewer) Status(obj runtime.Unstructured, number int64) (string, bool, error) {
	o := &workload.Object{Unstructured: unstructured.Unstructured{Object: obj.UnstructuredContent()}}
	gates, err := v.gates()
	if err != nil {
		return "", false, err
	}
	status, err := statusOf(o, gates)
	if err != nil {
		return "", false, err
	}
	words, name := o.Kind().Words, o.GetName()
	if status.Phase == inplace.Unobserved {
		return fmt.Sprintf("Waiting for %s spec update to be observed...\n", words), false, nil
	}
	if number > 0 {
		if err := v.pinned(o, number); err != nil {
			return "", false, err
		}
	}
	switch {
	case status.Phase == inplace.ByUsers:
		return "", true, fmt.Errorf("rollout status is not available for the %s", status.Message)
	case status.Phase == inplace.Failed:
		return "", true, fmt.Errorf("%s %q cannot be rolled out: %s", words, name, status.Message)
	case !status.Done():
		return fmt.Sprintf("Waiting for %s %q rollout to finish: %s...\n", words, name, status.Message), false, nil
	case status.Message != "":
		return fmt.Sprintf("partitioned roll out complete: %s...\n", status.Message), true, nil
	}
	return fmt.Sprintf("%s %q successfully rolled out\n", words, name), true, nil
}

// statusOf asks the package of a workload's kind, in whichever version the workload is.
func statusOf(o *workload.Object, gates *features.Gates) (inplace.Status, error) {
	if ask := statuses[o.GetKind()]; ask != nil {
		return ask(o, gates)
	}
	return inplace.Status{}, fmt.Errorf("no status viewer has been implemented for %s", o.GetKind())
}

// statuses ask the packages of kinds.
var statuses = map[string]func(*workload.Object, *features.Gates) (inplace.Status, error){
	"CloneSet": func(o *workload.Object, _ *features.Gates) (inplace.Status, error) {
		return of(withAvailable(o), cloneset.RolloutStatus)
	},
	"StatefulSet": func(o *workload.Object, _ *features.Gates) (inplace.Status, error) {
		return of(o, statefulset.RolloutStatus)
	},
	"DaemonSet": func(o *workload.Object, gates *features.Gates) (inplace.Status, error) {
		if set, err := o.DaemonSet(); err == nil {
			return switches.DaemonSet(gates).RolloutStatus(set), nil
		}
		return of(o, switches.DaemonSet(gates).RolloutStatus) // of a version that nothing converts: what it has of the known fields
	},
	"UnitedDeployment": func(o *workload.Object, _ *features.Gates) (inplace.Status, error) {
		return of(o, uniteddeployment.RolloutStatus)
	},
	"SidecarSet": func(o *workload.Object, gates *features.Gates) (inplace.Status, error) {
		return of(o, switches.SidecarSet(gates).RolloutStatus)
	},
}

// of asks about an object.
func of[T any](o *workload.Object, ask func(*T) inplace.Status) (inplace.Status, error) {
	object := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, object); err != nil {
		return inplace.Status{}, fmt.Errorf("%s %s: %w", o.Kind().Words, o.GetName(), err)
	}
	return ask(object), nil
}

// withAvailable returns a CloneSet whose status counts available pods: OpenKruise 1.4 counts those that are ready in their place.
func withAvailable(o *workload.Object) *workload.Object {
	if _, found, _ := unstructured.NestedInt64(o.Object, "status", "updatedAvailableReplicas"); found {
		return o
	}
	c := o.DeepCopyObject().(*workload.Object)
	ready, _, _ := unstructured.NestedInt64(o.Object, "status", "updatedReadyReplicas")
	_ = unstructured.SetNestedField(c.Object, ready, "status", "updatedAvailableReplicas") // fails only if status is no object
	return c
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
