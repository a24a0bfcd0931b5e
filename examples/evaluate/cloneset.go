package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

//go:embed cloneset.yaml
var manifest []byte

// What the manifest says, and what the demo makes of it.
const (
	setName        = "web"
	replicas       = 10
	maxUnavailable = 2
	container      = "main"
	oldImage       = "busybox:1.36"
	newImage       = "busybox:1.37"
	badImage       = "busybox:bad"
)

// change is one operation of a JSON patch.
type change struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

func setImage(image string) change {
	return change{"replace", "/spec/template/spec/containers/0/image", image}
}

func setPartition(partition any) change {
	return change{"add", "/spec/updateStrategy/partition", partition}
}

// createSet creates the CloneSet of the manifest.
func createSet(ctx context.Context, workloads client.Interface, namespace string) (*v1alpha1.CloneSet, error) {
	set := &v1alpha1.CloneSet{}
	if err := yaml.UnmarshalStrict(manifest, set); err != nil {
		return nil, fmt.Errorf("cloneset.yaml: %w", err)
	}
	created, err := workloads.CloneSets(namespace).Create(ctx, set, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("creating CloneSet %s/%s: %w", namespace, setName, err)
	}
	return created, nil
}

// changeSet changes the CloneSet in one request.
func changeSet(ctx context.Context, workloads client.Interface, namespace string, changes ...change) (*v1alpha1.CloneSet, error) {
	patch, err := json.Marshal(changes)
	if err != nil {
		return nil, err
	}
	changed, err := workloads.CloneSets(namespace).Patch(ctx, setName, types.JSONPatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return nil, fmt.Errorf("changing CloneSet %s/%s: %w", namespace, setName, err)
	}
	return changed, nil
}

// settled tells whether the CloneSet reports that so many of its pods are at the
// update revision and all are available. The generation is that of the change waited for.
func settled(set *v1alpha1.CloneSet, generation int64, updated int32) bool {
	s := &set.Status
	return set.Generation >= generation && s.ObservedGeneration == set.Generation &&
		s.Replicas == replicas && s.AvailableReplicas == replicas &&
		s.UpdatedReplicas == updated && s.UpdatedReadyReplicas == updated
}
