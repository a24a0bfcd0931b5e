// SPDX-License-Identifier: Apache-2.0

package install

import (
	"testing"

	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// With --wait=legacy Helm waits for none of our kinds: each is ready as soon as it is created, whatever its status says. Without
// "legacy" it asks kstatus, see examples/tests/gitops.
func TestHelmDoesNotWaitForWhatItDoesNotKnow(t *testing.T) {
	for _, kind := range []string{"CloneSet", "StatefulSet", "DaemonSet", "BroadcastJob"} {
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apps.kruise.io/v1alpha1", "kind": kind, "metadata": map[string]any{"name": "web", "namespace": "default", "generation": int64(2)},
			"spec": map[string]any{"replicas": int64(3)}, "status": map[string]any{"observedGeneration": int64(1), "replicas": int64(0)},
		}}
		checker := kube.NewReadyChecker(nil)
		ready, err := checker.IsReady(t.Context(), &resource.Info{
			Object: object, Name: "web", Namespace: "default", Mapping: &meta.RESTMapping{GroupVersionKind: object.GroupVersionKind()}})
		if err != nil || !ready {
			t.Errorf("%s: ready %t, error %v", kind, ready, err)
		}
	}
}
