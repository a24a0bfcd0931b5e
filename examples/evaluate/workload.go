package main

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// workload writes the workload as a person with kubectl would. Each method returns the
// generation that its change has made.
type workload struct {
	kind   *kind
	name   string // with the kind and the namespace, for errors
	client dynamic.ResourceInterface
}

func newWorkload(config *rest.Config, k *kind, namespace string) (*workload, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &workload{k, fmt.Sprintf("%s %s/%s", k.name, namespace, setName), client.Resource(k.resource).Namespace(namespace)}, nil
}

// create creates the workload of the manifest.
func (w *workload) create(ctx context.Context) (generation int64, err error) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(w.kind.manifest, object); err != nil {
		return 0, fmt.Errorf("manifest of the %s: %w", w.kind.name, err)
	}
	created, err := w.client.Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		return 0, fmt.Errorf("creating %s: %w", w.name, err)
	}
	return created.GetGeneration(), nil
}

// change changes the workload in one request.
func (w *workload) change(ctx context.Context, changes []change) (generation int64, err error) {
	patch, err := json.Marshal(changes)
	if err != nil {
		return 0, err
	}
	changed, err := w.client.Patch(ctx, setName, types.JSONPatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return 0, fmt.Errorf("changing %s: %w", w.name, err)
	}
	return changed.GetGeneration(), nil
}
