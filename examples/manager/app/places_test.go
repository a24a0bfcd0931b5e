// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/distribution/persistentpodstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/process/controllers"
	"github.com/podwright/podwright/examples/process/features"
	"github.com/podwright/podwright/internal/fakecluster"
)

// The API server asks about the pods of workloads that do not place them themselves, in the namespaces where something says
// where they go.
func TestWhichPodsArePlaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakecluster.New(nil, served...)
		core := kubernetes.NewForConfigOrDie(server.Config(""))
		gates, err := features.Parse("", "")
		if err != nil {
			t.Fatal(err)
		}
		p, err := newPlaces(server.Config(""), core, gates, "", "own")
		if err != nil {
			t.Fatal(err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.expression(over); err == nil || !strings.Contains(err.Error(), "not known yet") {
			t.Errorf("error %v", err)
		}
		if err := p.states.mutate(over, nil, &corev1.Pod{}); err == nil || !strings.Contains(err.Error(), "not known yet") {
			t.Errorf("error %v", err)
		}
		for _, one := range p.all {
			one.missing()
		}
		if got, err := p.expression(t.Context()); got != "false" || err != nil {
			t.Errorf("without the CRDs: %s, error %v", got, err)
		}
		spread := func(namespace, version, kind string) {
			ws := &v1alpha1.WorkloadSpread{ObjectMeta: metav1.ObjectMeta{Name: strings.ToLower(kind)}, Spec: v1alpha1.WorkloadSpreadSpec{
				TargetReference: &v1alpha1.TargetReference{APIVersion: version, Kind: kind, Name: "web"}}}
			if _, err := p.client.WorkloadSpreads(namespace).Create(t.Context(), ws, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		spread("shop", "apps/v1", "Deployment")
		spread("shop", "apps.kruise.io/v1alpha1", "CloneSet")
		spread("bank", "batch/v1", "Job")
		state := &v1alpha1.PersistentPodState{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: v1alpha1.PersistentPodStateSpec{
			TargetReference: v1alpha1.TargetReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web"}}}
		if _, err := p.client.PersistentPodStates("bank").Create(t.Context(), state, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		for _, one := range p.all {
			one.set(func(_ context.Context, _ *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
				pod.Spec.NodeName = "placed"
				return nil
			})
			go one.objects.RunWithContext(ctx)
		}
		defer func() { stop(); synctest.Wait() }()
		got, err := p.expression(t.Context())
		if err != nil || !strings.Contains(got, "in ['bank/Job', 'bank/StatefulSet', 'shop/ReplicaSet']") {
			t.Errorf("error %v, asked about %s", err, got)
		}
		for version, want := range map[string]string{"apps/v1": "placed", "apps.kruise.io/v1beta1": ""} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: version, Kind: "StatefulSet", Controller: new(true)}}}}
			if err := p.states.mutate(t.Context(), nil, pod); err != nil || pod.Spec.NodeName != want {
				t.Errorf("PPS-27: a pod of %s: %q, error %v", version, pod.Spec.NodeName, err)
			}
		}
		time.Sleep(time.Second)
	})
}

// Of the white list those are read that are served, that the manager may read, and that are not known anyway. (PPS-2, PPS-24)
func TestCustomKinds(t *testing.T) {
	for _, test := range []struct {
		list string
		want []persistentpodstate.CustomKind
	}{
		{`{"workloads":[{"Group":"game.io","Version":"v1","Kind":"GameServerSet"},{"Group":"game.io","Version":"v1","Kind":"Lobby"},{"Group":"game.io","Version":"v1","Kind":"Secret"},{"Group":"absent.io","Version":"v1","Kind":"Set"},{"Group":"apps","Version":"v1","Kind":"StatefulSet"}]}`,
			[]persistentpodstate.CustomKind{{Kind: schema.GroupVersionKind{Group: "game.io", Version: "v1", Kind: "GameServerSet"}, Resource: "gameserversets"}}},
		{`{"workloads":[`, nil},
		{`{"workloads":{}}`, nil},
		{"", nil},
	} {
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "own", Name: persistentpodstate.WhiteListConfigMap},
			Data: map[string]string{v1alpha1.PersistentPodStateWhiteListKey: test.list}}
		client := kubernetesfake.NewClientset(config)
		client.Discovery().(*fake.FakeDiscovery).Resources = []*metav1.APIResourceList{{GroupVersion: "game.io/v1", APIResources: []metav1.APIResource{
			{Name: "gameserversets/scale", Kind: "Scale", Namespaced: true}, {Name: "gameserversets", Kind: "GameServerSet", Namespaced: true}, {Name: "lobbies", Kind: "Lobby"},
			{Name: "secrets", Kind: "Secret", Namespaced: true}}}}
		client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
			review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
			asked := review.Spec.ResourceAttributes
			review.Status.Allowed = asked.Resource == "gameserversets" || asked.Verb == "list"
			return true, review, nil
		})
		p := &parts{Own: &controllers.Own{Clients: controllers.Clients{Kubernetes: client}}, ownNamespace: "own"}
		got, err := p.customKinds(t.Context())
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", test.list, err, diff)
		}
	}
}
