// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// rollbacker writes the template of an earlier revision back.
type rollbacker struct{ *revisions }

// Rollback brings a workload to a revision; 0 is the newest one whose template is not the present one. So an undo right
// after an update need not wait for the controller. It replaces the template, or what a SidecarSet injects, as a whole,
// and only if no other writer has changed the workload meanwhile. A paused workload is rolled back too, and stays paused.
// (KC-6)
func (r *rollbacker) Rollback(obj runtime.Object, _ map[string]string, number int64, dryRun cmdutil.DryRunStrategy) (string, error) {
	given, ok := obj.(*workload.Object)
	if !ok {
		return "", fmt.Errorf("cannot roll back %T", obj)
	}
	if number < 0 {
		return "", fmt.Errorf("revision must be a positive integer: %d", number)
	}
	ctx := context.TODO()
	o, err := r.get(ctx, given.GetNamespace(), given.GetName())
	if err != nil {
		return "", err
	}
	history, err := r.of(ctx, o)
	if err != nil {
		return "", err
	}
	to, wanted, err := find(o, history, number)
	switch {
	case err != nil:
		return "", err
	case dryRun == cmdutil.DryRunClient:
		return describeTemplate(o, to)
	case same(o, wanted):
		return fmt.Sprintf("skipped rollback (current template already matches revision %d)", to.Revision), nil
	}
	return "rolled back", r.replace(ctx, o, wanted, dryRun)
}

// find returns the revision to go to, and the workload as it was then.
func find(o *workload.Object, history []*appsv1.ControllerRevision, number int64) (*appsv1.ControllerRevision, *workload.Object, error) {
	for i := len(history) - 1; i >= 0; i-- {
		r := history[i]
		if number != 0 && r.Revision != number {
			continue
		}
		was, err := restored(o, r)
		if err != nil || number != 0 || !same(o, was) {
			return r, was, err
		}
	}
	if number == 0 {
		return nil, nil, errors.New("no last revision to roll back to")
	}
	return nil, nil, fmt.Errorf("unable to find specified revision %d in history", number)
}

// replace writes what a revision holds, in a workload that was read before.
func (r *rollbacker) replace(ctx context.Context, o, wanted *workload.Object, dryRun cmdutil.DryRunStrategy) error {
	changes := []map[string]any{{"op": "test", "path": "/metadata/resourceVersion", "value": o.GetResourceVersion()}}
	for _, field := range held(o) {
		_, has, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", field)
		switch value, wants, _ := unstructured.NestedFieldNoCopy(wanted.Object, "spec", field); {
		case wants:
			changes = append(changes, map[string]any{"op": "add", "path": "/spec/" + field, "value": value})
		case has:
			changes = append(changes, map[string]any{"op": "remove", "path": "/spec/" + field})
		}
	}
	patch, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	options := metav1.PatchOptions{FieldManager: "kubectl-rollout"}
	if dryRun == cmdutil.DryRunServer {
		options.DryRun = []string{metav1.DryRunAll}
	}
	_, err = r.dynamic.Resource(r.mapping.Resource).Namespace(o.GetNamespace()).Patch(ctx, o.GetName(), types.JSONPatchType, patch, options)
	return err
}
