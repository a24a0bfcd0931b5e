// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	discoveryfake "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/dynamic"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	kubernetestesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

var (
	rollouts = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"}
	stages   = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Stage"}
)

// withRollouts plays a story in a cluster with Rollouts, of which the pods are those of ReplicaSets, perhaps with Stages between.
func withRollouts(t *testing.T, story func(*testing.T, *cluster)) {
	t.Helper()
	var c *cluster
	kinds := append(others, fakecluster.CustomResource(rollouts, "rollouts"), fakecluster.CustomResource(stages, "stages"))
	fixture.Play(t, spreadResource, func(f *fixture.Cluster) {
		c = newCluster(f)
		c.options.Dynamic = connect(f, fixture.ControllerUser, dynamic.NewForConfig)
		c.options.Custom = []CustomKind{{Kind: rollouts, Resource: "rollouts"}, {Kind: stages, Resource: "stages", Between: true}}
	}, func(t *testing.T) { story(t, c) }, kinds...)
}

// rollout creates the Rollout web with this spec, a Stage of it and a ReplicaSet of that, and returns the reference of its pods.
func (c *cluster) rollout(spec string) metav1.OwnerReference {
	c.T.Helper()
	rollout := c.Object("create", "argoproj.io/v1alpha1/rollouts", `{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","metadata":{"name":"web","namespace":"default","generation":1},"spec":`+spec+`}`)
	stage := c.Object("create", "argoproj.io/v1alpha1/stages", fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":"Stage","metadata":{"name":"one","namespace":"default","ownerReferences":[
		{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","name":"web","uid":%q,"controller":true}]}}`, rollout.UID))
	return owns(c.Object("create", "apps/v1/replicasets", fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web-1","namespace":"default","labels":{"pod-template-hash":"1"},"ownerReferences":[
		{"apiVersion":"argoproj.io/v1alpha1","kind":"Stage","name":"one","uid":%q,"controller":true}]},"spec":{"replicas":10}}`, stage.UID)))
}

// Of the white list those are read that are served, that the manager may read, and that are not known anyway. (WS-35)
func TestCustomKinds(t *testing.T) {
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "own", Name: "kruise-configuration"}, Data: map[string]string{v1alpha1.WorkloadSpreadWhitelistKey: `{"workloads":[
		{"Group":"argoproj.io","Version":"v1alpha1","Kind":"Rollout","replicasPath":"spec.n","subResources":[{"Group":"argoproj.io","Version":"v1alpha1","Kind":"Stage"},{"Group":"apps","Version":"v1","Kind":"ReplicaSet"}]},
		{"Group":"argoproj.io","Version":"v1alpha1","Kind":"Secret"},{"Group":"argoproj.io","Version":"v1alpha1","Kind":"Absent"},{"Group":"absent.io","Version":"v1","Kind":"Set"},{"Group":"apps","Version":"v1","Kind":"Deployment"}]}`}}
	kube := kubernetesfake.NewClientset(config)
	kube.Discovery().(*discoveryfake.FakeDiscovery).Resources = []*metav1.APIResourceList{{GroupVersion: "argoproj.io/v1alpha1", APIResources: []metav1.APIResource{
		{Name: "rollouts/scale", Kind: "Scale", Namespaced: true}, {Name: "rollouts", Kind: "Rollout", Namespaced: true}, {Name: "stages", Kind: "Stage", Namespaced: true}, {Name: "secrets", Kind: "Secret", Namespaced: true}}}}
	kube.PrependReactor("create", "selfsubjectaccessreviews", func(action kubernetestesting.Action) (bool, runtime.Object, error) {
		review := action.(kubernetestesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
		review.Status.Allowed = review.Spec.ResourceAttributes.Resource != "secrets"
		return true, review, nil
	})
	got, err := findCustom(t.Context(), &Options{Kubernetes: kube, ConfigNamespace: "own"})
	want := []CustomKind{{Kind: rollouts, Resource: "rollouts", ReplicasPath: "spec.n"}, {Kind: stages, Resource: "stages", Between: true}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("WS-35: error %v (-want +got):\n%s", err, diff)
	}
	var rules []string
	for _, rule := range Rules(Options{Custom: got}) {
		if rule.APIGroups[0] == "argoproj.io" {
			rules = append(rules, fmt.Sprint(rule.Resources, rule.Verbs))
		}
	}
	if diff := cmp.Diff([]string{"[rollouts] [list watch]", "[stages] [list watch]"}, rules); diff != "" {
		t.Errorf("WS-35: rules (-want +got):\n%s", diff)
	}
}
