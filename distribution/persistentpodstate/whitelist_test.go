// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/fake"
	fakekube "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// whitelistConfigMap is the ConfigMap of the white list.
const whitelistConfigMap = "kruise-configuration"

// Of the white list those are read that are served, that the manager may read, and that are not known anyway. (PPS-2, PPS-24)
func TestCustomKinds(t *testing.T) {
	for _, test := range []struct {
		list string
		want []CustomKind
	}{
		{`{"workloads":[{"Group":"game.io","Version":"v1","Kind":"GameServerSet"},{"Group":"game.io","Version":"v1","Kind":"Lobby"},{"Group":"game.io","Version":"v1","Kind":"Secret"},{"Group":"absent.io","Version":"v1","Kind":"Set"},{"Group":"apps","Version":"v1","Kind":"StatefulSet"}]}`,
			[]CustomKind{{Kind: schema.GroupVersionKind{Group: "game.io", Version: "v1", Kind: "GameServerSet"}, Resource: "gameserversets"}}},
		{`{"workloads":[`, nil},
		{`{"workloads":{}}`, nil},
		{"", nil},
	} {
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "own", Name: whitelistConfigMap},
			Data: map[string]string{v1alpha1.PersistentPodStateWhitelistKey: test.list}}
		client := fakekube.NewClientset(config)
		client.Discovery().(*fake.FakeDiscovery).Resources = []*metav1.APIResourceList{{GroupVersion: "game.io/v1", APIResources: []metav1.APIResource{
			{Name: "gameserversets/scale", Kind: "Scale", Namespaced: true}, {Name: "gameserversets", Kind: "GameServerSet", Namespaced: true}, {Name: "lobbies", Kind: "Lobby"},
			{Name: "secrets", Kind: "Secret", Namespaced: true}}}}
		client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
			review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
			asked := review.Spec.ResourceAttributes
			review.Status.Allowed = asked.Resource == "gameserversets" || asked.Verb == "list"
			return true, review, nil
		})
		list, err := AwaitWhitelist(t.Context(), client, "own")
		if err != nil {
			t.Fatal(err)
		}
		got, err := CustomKinds(t.Context(), client, list, "")
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", test.list, err, diff)
		}
	}
}
