package cloneset

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/workloads/v1alpha1"
)

// status writes the planned status, nil where the present one stands, and what
// went wrong since.
func (a *applier) status(ctx context.Context, s *Snapshot, status *v1alpha1.CloneSetStatus) error {
	if len(a.failures) > 0 {
		if status == nil {
			status = a.set.Status.DeepCopy()
		}
		problems := append(a.failures, a.plan.Problems...)
		status.Conditions = conditions(a.set.Status.Conditions, problems, metav1.NewTime(s.Now))
		if sameStatus(&a.set.Status, status) {
			status = nil
		}
	}
	if status == nil {
		return nil
	}
	return a.writeStatus(ctx, status)
}

// writeStatus replaces the whole status, unless the CloneSet has changed since
// it was read: then a pass over the newer one is due anyway.
func (a *applier) writeStatus(ctx context.Context, status *v1alpha1.CloneSetStatus) error {
	data, err := statusPatch(a.set, status)
	if err != nil {
		return err
	}
	written, err := a.workloads.CloneSets(a.set.Namespace).
		Patch(ctx, a.set.Name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil // the CloneSet has been deleted
	}
	if err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	a.wrote(ResourceCloneSets, written)
	a.version = written.ResourceVersion
	a.statuses.set(a.key, written.ResourceVersion)
	return nil
}

// object is the metadata by which a patch is refused on any other state of the object.
type object struct {
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion"`
}

// statusPatch is a merge patch from the observed status to the new one.
func statusPatch(set *v1alpha1.CloneSet, status *v1alpha1.CloneSetStatus) ([]byte, error) {
	raw, err := json.Marshal(status)
	if err != nil {
		return nil, fmt.Errorf("encode the status: %w", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("encode the status: %w", err)
	}
	for _, optional := range []string{
		"conditions", "collisionCount", "expectedUpdatedReplicas", "labelSelector", "currentRevision", "updateRevision", "observedGeneration",
	} {
		if _, present := fields[optional]; !present {
			fields[optional] = nil // a merge patch keeps what it does not name
		}
	}
	return json.Marshal(map[string]any{"metadata": object{set.UID, set.ResourceVersion}, "status": fields})
}

// prunePatch is a merge patch that replaces podsToDelete and nothing else.
func prunePatch(uid types.UID, resourceVersion string, names []string) ([]byte, error) {
	return json.Marshal(map[string]any{
		"metadata": object{uid, resourceVersion},
		"spec":     map[string]any{"scaleStrategy": map[string]any{"podsToDelete": names}},
	})
}

// ownerPatch is a strategic-merge patch that replaces one owner by another.
func ownerPatch(of metav1.Object, from types.UID, to metav1.OwnerReference) ([]byte, error) {
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":             of.GetUID(),
		"ownerReferences": []any{map[string]any{"$patch": "delete", "uid": from}, to},
	}})
}
