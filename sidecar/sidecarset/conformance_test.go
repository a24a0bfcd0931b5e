// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection"
)

// suite is what the scenarios of a SidecarSet have in common: three pods, and a change.
func suite(spec, change string, writes ...string) conformance.Subject {
	return conformance.Subject{
		Resource: setResource, More: []fakecluster.Resource{namespaceResource},
		Watches: []string{"sidecarsets", "pods", "controllerrevisions", "namespaces"},
		Writes:  append([]string{"create controllerrevisions", "patch pods", "patch sidecarsets/status", "delete controllerrevisions"}, writes...),
		Unasked: map[string]string{"*": "each scenario updates in one way, and the rules are for all"},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			o := options(c.Cluster, c.Share)
			o.Metrics = c.Reconciles
			return conformance.Made(tested, o, rules(o))
		},
		Prepare: func(c *conformance.Cluster) { createNamespaces(c.Cluster, "default", DefaultRevisionNamespace) },
		Create: func(c *conformance.Cluster, name string) {
			set := newSet(c.T, name, spec, "updateStrategy: {maxUnavailable: 2}", "revisionHistoryLimit: 1")
			c.Create(set, "")
			for i := range 3 {
				c.CreatePod(injectedPod(c.T, set, fixture.Web.Namespace, fmt.Sprint(name, "-", i), injection.Features{}))
			}
		},
		Change:  func(c *conformance.Cluster, name string) { c.EditNamed(name, change) },
		Outcome: func(c *conformance.Cluster, name string) string { return outcome(c.Cluster, name) },
		// A kubelet does not go back to a generation before.
		Noise:     func(c *conformance.Cluster, i int) { c.Heartbeat(i + 10) },
		Strangers: func(c *conformance.Cluster, name string) { c.CreateStrangers(name) },
	}
}

// TestConformance updates pods in place, and drops the revision before. (SCS-W6, SCS-W7)
func TestConformance(t *testing.T) {
	k := suite("", `{"spec":{"containers":[{"name":"log","image":"log:2"}]}}`)
	k.Turns = 2
	conformance.Test(t, k)
}

// TestConformanceOfNamespaces selects the namespace by its labels. It takes turns with TestConformance.
func TestConformanceOfNamespaces(t *testing.T) {
	k := suite("namespaceSelector: {matchLabels: {name: default}}", `{"spec":{"containers":[{"name":"log","image":"log:2"}]}}`)
	k.Turn, k.Turns = 1, 2
	conformance.Test(t, k)
}

// TestConformanceHot upgrades a hot container, and empties the one before. (SCS-18)
func TestConformanceHot(t *testing.T) {
	const hot = `containers: [{name: log, image: "log:1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "empty:1"}}]`
	conformance.Test(t, suite(hot, `{"spec":{"containers":[{"name":"log","image":"log:2","upgradeStrategy":{"upgradeType":"HotUpgrade","hotUpgradeEmptyImage":"empty:1"}}]}}`))
}

// TestConformanceOfVersions gives the latest revision the custom version. (SCS-R4)
func TestConformanceOfVersions(t *testing.T) {
	k := suite("", `{"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":"v2"}},"spec":{"containers":[{"name":"log","image":"log:2"}]}}`, "patch controllerrevisions")
	change := k.Change
	k.Change = func(c *conformance.Cluster, name string) {
		change(c, name)
		c.Sleep("5s")
		c.EditNamed(name, `{"metadata":{"labels":{"apps.kruise.io/sidecarset-custom-version":"v3"}}}`)
	}
	k.Outcome = func(c *conformance.Cluster, name string) string {
		list, err := c.Kube.AppsV1().ControllerRevisions(DefaultRevisionNamespace).List(c.T.Context(), metav1.ListOptions{LabelSelector: "kruise.io/sidecarset-name=" + name})
		c.Must(err)
		versions := outcome(c.Cluster, name)
		for _, r := range list.Items {
			versions += "\n" + r.Name + " is " + r.Labels["apps.kruise.io/sidecarset-custom-version"]
		}
		return versions
	}
	conformance.Test(t, k)
}

func TestOptions(t *testing.T) {
	server := fakecluster.New(nil)
	kube, sidecars := fixture.Connect(t, server, "test", kubernetes.NewForConfig), fixture.Connect(t, server, "test", client.NewForConfig)
	conformance.CheckOptions(t, conformance.Options[Options]{Good: Options{Kubernetes: kube, Sidecar: sidecars}, Required: "Kubernetes Sidecar",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
}

// rules are all that the kind states, wherever: filled anew, the cache of revisions is watched in all namespaces.
func rules(o Options) []rbacv1.PolicyRule {
	_, in := NamespaceRules(o)
	return append(Rules(o), in...)
}
