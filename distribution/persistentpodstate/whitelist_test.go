// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"errors"
	"strings"
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

// The white list is read from the API server. Of its kinds those are read that are served, that the manager may read, and that are not known
// anyway. (PPS-2, PPS-24)
func TestCustomKinds(t *testing.T) {
	for _, test := range []struct {
		list, err string
		want      []CustomKind
	}{
		{list: `{"workloads":[{"Group":"game.io","Version":"v1","Kind":"GameServerSet"},{"Group":"game.io","Version":"v1","Kind":"Lobby"},{"Group":"game.io","Version":"v1","Kind":"Secret"},{"Group":"absent.io","Version":"v1","Kind":"Set"},{"Group":"apps","Version":"v1","Kind":"StatefulSet"}]}`,
			want: []CustomKind{{Kind: schema.GroupVersionKind{Group: "game.io", Version: "v1", Kind: "GameServerSet"}, Resource: "gameserversets"}}},
		{list: `{"workloads":[`, err: "ConfigMap own/kruise-configuration: PPS_Watch_Custom_Workload_WhiteList is no white list"},
		{list: `{"workloads":{}}`, err: "ConfigMap own/kruise-configuration: PPS_Watch_Custom_Workload_WhiteList is no white list"},
		{list: "none"},
		{list: ""},
	} {
		client := fakekube.NewClientset()
		if test.list != "none" {
			client = fakekube.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "own", Name: whitelistConfigMap},
				Data: map[string]string{v1alpha1.PersistentPodStateWhitelistKey: test.list}})
		}
		client.Discovery().(*fake.FakeDiscovery).Resources = []*metav1.APIResourceList{{GroupVersion: "game.io/v1", APIResources: []metav1.APIResource{
			{Name: "gameserversets/scale", Kind: "Scale", Namespaced: true}, {Name: "gameserversets", Kind: "GameServerSet", Namespaced: true}, {Name: "lobbies", Kind: "Lobby"},
			{Name: "secrets", Kind: "Secret", Namespaced: true}}}}
		client.PrependReactor("create", "selfsubjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
			review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
			asked := review.Spec.ResourceAttributes
			review.Status.Allowed = asked.Resource == "gameserversets" || asked.Verb == "list"
			return true, review, nil
		})
		if _, err := ReadWhitelist(t.Context(), client, "own"); (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: error %v, want %s", test.list, err, test.err)
		}
		list, err := AwaitWhitelist(t.Context(), client, "own")
		if err != nil {
			t.Fatal(err)
		}
		got, err := CustomKinds(t.Context(), client, list, "")
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", test.list, err, diff)
		}
	}
	unanswered := fakekube.NewClientset()
	unanswered.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no answer")
	})
	if _, err := ReadWhitelist(t.Context(), unanswered, "own"); err == nil {
		t.Error("no error if the API server does not answer")
	}
}
