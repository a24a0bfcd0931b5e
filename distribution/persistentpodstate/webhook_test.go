// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. With list=games a white list has the kind of games,
// and list=broken cannot be read. With others=known there are PersistentPodStates of the StatefulSets taken and web.
func TestAdmission(t *testing.T) {
	others := fake.NewClient(newState("first", requires(host), targeting("apps/v1beta2", "StatefulSet", "taken")), newState("web", requires(host)),
		newState("db", requires(host), targeting("apps/v1", "StatefulSet", "taken")))
	lists := map[string]func(context.Context) (podstate.Whitelist, error){
		"games":  func(context.Context) (podstate.Whitelist, error) { return podstate.Whitelist{games}, nil },
		"broken": func(context.Context) (podstate.Whitelist, error) { return nil, errors.New("no answer") },
	}
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: kind, Resource: "persistentpodstates",
		Object: `{metadata: {namespace: default, name: web}, spec: {targetRef: {apiVersion: apps.kruise.io/v1beta1, kind: StatefulSet, name: web},
			requiredPersistentTopology: {nodeTopologyKeys: [` + host + `]}}}`,
		New: func(args map[string][]string) conformance.Served {
			w := &Webhook{}
			if args["others"] != nil {
				w.Distribution = others
			}
			if list := args["list"]; list != nil {
				w.Whitelist = lists[list[0]]
			}
			return w
		}})
}

// PPS-2: the white list of the cluster.
func TestReadWhitelist(t *testing.T) {
	configMaps := fakecluster.Resource{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Name: "configmaps", Type: func() any { return &corev1.ConfigMap{} }}
	server := fakecluster.New(nil, configMaps)
	kube := fixture.Connect(t, server, "test", kubernetes.NewForConfig)
	if list, err := ReadWhitelist(t.Context(), kube, "kruise-system"); err != nil || list != nil {
		t.Errorf("without a ConfigMap: %v, %v", list, err)
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kruise-system", Name: whitelistConfigMap},
		Data: map[string]string{v1alpha1.PersistentPodStateWhitelistKey: `{"workloads":[{"Group":"game.kruise.io","Version":"v1alpha1","Kind":"GameServerSet"}]}`}}
	config, err := kube.CoreV1().ConfigMaps("kruise-system").Create(t.Context(), config, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := ReadWhitelist(t.Context(), kube, "kruise-system"); err != nil || !list.Allows(games.GroupKind()) {
		t.Errorf("%v, %v", list, err)
	}
	config.Data[v1alpha1.PersistentPodStateWhitelistKey] = "game"
	if _, err = kube.CoreV1().ConfigMaps("kruise-system").Update(t.Context(), config, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadWhitelist(t.Context(), kube, "kruise-system"); err == nil || !strings.Contains(err.Error(), "ConfigMap kruise-system/kruise-configuration: PPS_Watch_Custom_Workload_WhiteList is no white list") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadWhitelist(ctx, kube, "kruise-system"); err == nil {
		t.Error("no error if the API server does not answer")
	}
}
