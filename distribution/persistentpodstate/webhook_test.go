// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

func about(operation admissionv1.Operation, object, old any) *admissionv1.AdmissionRequest {
	gvk := v1alpha1.SchemeGroupVersion.WithKind(kind)
	r := &admissionv1.AdmissionRequest{UID: "uid", Kind: metav1.GroupVersionKind(gvk), Operation: operation, Namespace: "default", Name: "web"}
	r.Object.Raw = raw(object)
	if old != nil {
		r.OldObject.Raw = raw(old)
	}
	return r
}

func raw(object any) []byte {
	data, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return data
}

// PPS-1 to PPS-3, PPS-26: what is refused, and how.
func TestWebhook(t *testing.T) {
	listed := func(context.Context) (podstate.Whitelist, error) { return podstate.Whitelist{games}, nil }
	game := targeting("game.kruise.io/v1alpha1", "GameServerSet", "web")
	finalizer := func(s *v1alpha1.PersistentPodState) { s.Finalizers = []string{"a"} }
	others := fake.NewClient(newState("first", requires(host), targeting("apps/v1beta2", "StatefulSet", "taken")), newState("web", requires(host)), newState("db", requires(host), targeting("apps/v1", "StatefulSet", "taken")))
	for _, test := range []struct {
		name        string
		webhook     Webhook
		object, old *v1alpha1.PersistentPodState
		want        string
	}{
		{"PPS-3: right", Webhook{Distribution: others, Whitelist: listed}, newState("web", requires(host)), nil, ""},
		{"PPS-3: no topology", Webhook{}, newState("web"), nil, "400 spec: Required value: give requiredPersistentTopology, preferredPersistentTopology or both"},
		{"PPS-3: another target", Webhook{}, newState("web", requires(host), targeting("apps/v1", "StatefulSet", "db")), newState("web", requires(host)), "400 spec.targetRef: Forbidden: cannot be modified"},
		{"PPS-3: other keys", Webhook{}, newState("web", requires(zone)), newState("web", requires(host)), ""},
		{"PPS-2: a listed kind", Webhook{Whitelist: listed}, newState("web", requires(host), game), nil, ""},
		{"PPS-2: a kind that is not listed", Webhook{}, newState("web", requires(host), game), nil, `400 spec.targetRef.kind: Invalid value: "GameServerSet.game.kruise.io": must be StatefulSet`},
		{"PPS-1: others have it", Webhook{Distribution: others}, newState("web", requires(host), targeting("apps/v1", "StatefulSet", "taken")), nil,
			"400 spec.targetRef: Forbidden: is that of PersistentPodState db, first already"},
		{"PPS-26: all that is wrong", Webhook{Distribution: others}, newState("web", targeting("apps/v1", "StatefulSet", "taken")), nil,
			"400 [spec: Required value: give requiredPersistentTopology, preferredPersistentTopology or both, spec.targetRef: Forbidden: is that of"},
		{"PPS-26: what stays as it is", Webhook{Distribution: others}, newState("web", game, finalizer), newState("web", game), ""},
		{"PPS-26: no white list", Webhook{Whitelist: func(context.Context) (podstate.Whitelist, error) { return nil, errors.New("nobody answers") }},
			newState("web", requires(host)), nil, "500 Internal error occurred: nobody answers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			operation, old := admissionv1.Create, any(nil)
			if test.old != nil {
				operation, old = admissionv1.Update, test.old
			}
			answer := test.webhook.Validate(t.Context(), about(operation, test.object, old))
			got := ""
			if !answer.Allowed {
				got = fmt.Sprintf("%d %s", answer.Result.Code, answer.Result.Message)
			}
			if test.want == "" && got != "" || !strings.Contains(withoutName(got), test.want) {
				t.Errorf("got %q, want %q", withoutName(got), test.want)
			}
		})
	}
	if n := len((&Webhook{}).Rules()); n != 0 || len((&Webhook{Distribution: others}).Rules()) != 1 {
		t.Errorf("%d rules", n)
	}
}

// PPS-35: who asks for annotations is warned of those that pods do not get back.
func TestWebhookWarns(t *testing.T) {
	asks := func(keys ...string) func(*v1alpha1.PersistentPodState) {
		return func(s *v1alpha1.PersistentPodState) {
			for _, key := range keys {
				s.Spec.PersistentPodAnnotations = append(s.Spec.PersistentPodAnnotations, v1alpha1.PersistentPodAnnotation{Key: key})
			}
		}
	}
	for _, test := range []struct {
		name     string
		restores bool
		now, old *v1alpha1.PersistentPodState
		want     string // what the warnings have in common, empty for none
	}{
		{"without the switch", false, newState("web", requires(host), asks("ip")), nil, "pods do not get them back; the gate PersistentPodStateRestoreAnnotations"},
		{"one more", false, newState("web", requires(host), asks("ip", "mac")), newState("web", requires(host), asks("ip")), "pods do not get them back"},
		{"as before", false, newState("web", requires(zone), asks("ip")), newState("web", requires(host), asks("ip")), ""},
		{"none", false, newState("web", requires(host)), nil, ""},
		{"with the switch", true, newState("web", requires(host), asks("ip")), nil, ""},
		{"one of controllers", true, newState("web", requires(host), asks("ip", "apps.kruise.io/a")), nil, "persistentPodAnnotations[1]: apps.kruise.io/a"},
	} {
		operation, old := admissionv1.Create, any(nil)
		if test.old != nil {
			operation, old = admissionv1.Update, test.old
		}
		answer := (&Webhook{RestoreAnnotations: test.restores}).Validate(t.Context(), about(operation, test.now, old))
		if got := strings.Join(answer.Warnings, "; "); !answer.Allowed || (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: allowed %t, warnings %q, want %q", test.name, answer.Allowed, got, test.want)
		}
	}
}

// withoutName leaves out of a refusal which object it is about.
func withoutName(text string) string {
	return strings.Replace(text, `PersistentPodState.apps.kruise.io "web" is invalid: `, "", 1)
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
		t.Error("no error where nobody answers")
	}
}
