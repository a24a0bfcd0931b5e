// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// TestConformance starts a pod of two containers: one, and then the other.
func TestConformance(t *testing.T) {
	conformance.Test(t, conformance.Subject{
		Resource:    configMaps,
		Watches:     []string{"pods"},
		Writes:      []string{"create configmaps", "patch configmaps"},
		Uncontested: map[string]string{"patch configmaps": "a key is written while a container waits for it, and looked after once a minute (LP-12)"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			kube := c.Client(fixture.ControllerUser)
			o := Options{Kubernetes: kube, Recorder: &c.Events, ControllerOptions: podwright.ControllerOptions{Metrics: c.Reconciles},
				Pods: c.Share(caches.NewInformers(kube, "").Pods())}
			return conformance.Made(tested, o, Rules(o))
		},
		Create: func(c *conformance.Cluster, name string) { createPod(c.Cluster, name, "main=0", "proxy=5") },
		Change: func(c *conformance.Cluster, name string) {
			c.PatchPod(name, `{"spec":{"containers":[{"name":"proxy","image":"proxy:good"}]}}`)
			c.KubeletStep()
			c.KubeletStep()
			c.PatchPod(name, `{"spec":{"containers":[{"name":"main","image":"main:good"}]}}`)
		},
		About: func(*conformance.Cluster, string) string { return "" }, // events alone
		Outcome: func(c *conformance.Cluster, name string) string {
			configMap, err := c.Kube.CoreV1().ConfigMaps(fixture.Web.Namespace).Get(c.T.Context(), barrier.ConfigMapName(name), metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return "none"
			}
			c.Must(err)
			return fmt.Sprint(configMap.Data)
		},
		Strangers: func(c *conformance.Cluster, _ string) { // without a barrier
			c.CreatePod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "strange"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "web:1"}}}})
		},
	})
}

func TestOptions(t *testing.T) {
	kube := fixture.Connect(t, fakecluster.New(nil), "test", kubernetes.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Kubernetes: kube}, Required: "Kubernetes",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
}

// A release switches what it does by default. (LP-17, LP-18)
func TestFeaturesOf(t *testing.T) {
	if diff := cmp.Diff(Features{}, FeaturesOf(podwright.Release14)); diff != "" {
		t.Errorf("1.4 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Features{KeyBeforeReport: true, MarkCompleted: true}, FeaturesOf(podwright.Release19)); diff != "" {
		t.Errorf("1.9 (-want +got):\n%s", diff)
	}
}

// The right to patch pods is asked for if they are marked, and only then. (LP-18)
func TestRulesOfMarks(t *testing.T) {
	for _, on := range []bool{false, true} {
		rules := Rules(Options{Features: Features{MarkCompleted: on}})
		if got := slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Resources, "pods") && slices.Contains(r.Verbs, "patch")
		}); got != on {
			t.Errorf("MarkCompleted %t: rules %v", on, rules)
		}
	}
}
