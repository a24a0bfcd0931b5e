// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	kubernetestesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/v1alpha1"
	workloadsfake "github.com/podwright/podwright/workloads/client/fake"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// TestWebhook is about what is refused, and how. (WS-21, WS-21.1, WS-22)
func TestWebhook(t *testing.T) {
	const subsets = "subsets: [{name: a}]"
	others := fake.NewClient(newSpread(t, "web", subsets))
	renamed := newSpread(t, "other", subsets)
	renamed.Spec.TargetReference.Name = "web"
	wrong := newSpread(t, "wrong", "subsets: [{name: a}, {name: a}]")
	finalized := wrong.DeepCopy()
	finalized.Finalizers = []string{"example.com/f"}
	const patch = "subsets: [{name: a, patch: {metadata: {labels: {app: zone-a}}}}]"
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
	relabelled, ofDeployment := newSpread(t, "db", patch), newSpread(t, "db", patch)
	relabelled.Spec.TargetReference.APIVersion, relabelled.Spec.TargetReference.Kind = "apps.kruise.io/v1alpha1", "CloneSet"
	cloneSets := workloadsfake.NewClient(&workloadsv1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default"}, Spec: workloadsv1alpha1.CloneSetSpec{Selector: selector}})
	deployments := kubernetesfake.NewClientset(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default"}, Spec: appsv1.DeploymentSpec{Selector: selector}})
	replicaSet := func(of string) *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "default", OwnerReferences: []metav1.OwnerReference{*ownerOf("apps/v1", "Deployment", of, "d")}}}
	}
	ofReplicaSet := newSpread(t, "rs", subsets)
	ofReplicaSet.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-1"}
	changed := ofReplicaSet.DeepCopy()
	changed.Spec.Subsets[0].Name = "b"
	ofWeb, ofDB := kubernetesfake.NewClientset(replicaSet("web")), kubernetesfake.NewClientset(replicaSet("db"))
	failing := kubernetesfake.NewClientset()
	failing.PrependReactor("list", "replicasets", func(kubernetestesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no answer")
	})
	for _, test := range []struct {
		name    string
		webhook Webhook
		ws, old *v1alpha1.WorkloadSpread
		want    string
	}{
		{"a valid one", Webhook{Distribution: others}, newSpread(t, "db", subsets), nil, ""},
		{"itself", Webhook{Distribution: others}, newSpread(t, "web", "subsets: [{name: b}]"), newSpread(t, "web", subsets), ""},
		{"an invalid one", Webhook{}, wrong, nil, `400 WorkloadSpread.apps.kruise.io "wrong" is invalid: spec.subsets[1].name: Duplicate value: "a"`},
		{"one that was invalid before", Webhook{}, finalized, wrong, ""},
		{"the same target", Webhook{Distribution: others}, renamed, nil, `400 WorkloadSpread.apps.kruise.io "other" is invalid: spec.targetRef: Forbidden: is in conflict with other WorkloadSpread web`},
		{"the same target, and nobody knows", Webhook{}, renamed, nil, ""},
		{"a ReplicaSet of a Deployment", Webhook{Distribution: others, Kubernetes: ofWeb}, ofReplicaSet, nil, `400 WorkloadSpread.apps.kruise.io "rs" is invalid: spec.targetRef: Forbidden: is in conflict with other WorkloadSpread web`},
		{"the Deployment of a ReplicaSet", Webhook{Distribution: fake.NewClient(ofReplicaSet), Kubernetes: ofWeb}, renamed, nil, `400 WorkloadSpread.apps.kruise.io "other" is invalid: spec.targetRef: Forbidden: is in conflict with other WorkloadSpread rs`},
		{"a ReplicaSet of another Deployment", Webhook{Distribution: others, Kubernetes: ofDB}, ofReplicaSet, nil, ""},
		{"a ReplicaSet that is not there", Webhook{Distribution: others, Kubernetes: kubernetesfake.NewClientset()}, ofReplicaSet, nil, ""},
		{"a ReplicaSet that is not read", Webhook{Distribution: others}, ofReplicaSet, nil, ""},
		{"a ReplicaSet that cannot be read", Webhook{Distribution: others, Kubernetes: failing}, ofReplicaSet, nil, "Internal error occurred: read ReplicaSet web-1: no answer"},
		{"a stored one of a ReplicaSet of a Deployment", Webhook{Distribution: others, Kubernetes: ofWeb}, changed, ofReplicaSet, ""},
		{"a patch of a label that the target selects by", Webhook{Workloads: cloneSets}, relabelled, nil, `400 WorkloadSpread.apps.kruise.io "db" is invalid: spec.subsets[0].patch: Forbidden: changes the label app, by which the workload selects its pods (app=db)`},
		{"a patch of a label that a Deployment selects by", Webhook{Kubernetes: deployments}, ofDeployment, nil, `400 WorkloadSpread.apps.kruise.io "db" is invalid: spec.subsets[0].patch: Forbidden: changes the label app, by which the workload selects its pods (app=db)`},
		{"a patch, and the target is not there", Webhook{Workloads: workloadsfake.NewClient()}, relabelled, nil, ""},
		{"a patch, and the target is not known", Webhook{}, relabelled, nil, ""},
		{"another target", Webhook{}, newSpread(t, "db", subsets), renamed, `400 WorkloadSpread.apps.kruise.io "db" is invalid: spec.targetRef: Forbidden: group, kind and name cannot be modified`},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := &admissionv1.AdmissionRequest{UID: "1", Operation: admissionv1.Create, Namespace: "default", Name: test.ws.Name,
				Kind:   metav1.GroupVersionKind{Group: v1alpha1.GroupName, Version: "v1alpha1", Kind: kind},
				Object: raw(t, test.ws)}
			if test.old != nil {
				request.Operation, request.OldObject = admissionv1.Update, raw(t, test.old)
			}
			response, got := test.webhook.Validate(t.Context(), request), ""
			if !response.Allowed {
				got = response.Result.Message
				if response.Result.Code == 400 {
					got = "400 " + got
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got) %s", diff)
			}
		})
	}
	if rules := (&Webhook{}).Rules(); rules != nil {
		t.Errorf("rules %v for what is not asked", rules)
	}
	if rules := (&Webhook{Distribution: others}).Rules(); len(rules) != 1 || !slices.Equal(rules[0].Verbs, []string{"list"}) {
		t.Errorf("rules %v", rules)
	}
	if handlers := (&Webhook{}).Handlers(); len(handlers) != 1 || handlers[ValidatePath] == nil {
		t.Errorf("handlers %v", handlers)
	}
}

func raw(t *testing.T, object any) runtime.RawExtension {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}
