// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

var (
	distributionResource = fakecluster.Resource{GroupVersionKind: v1alpha1.SchemeGroupVersion.WithKind(Kind), Name: "resourcedistributions", ClusterScoped: true, Status: true, Generation: true}
	more                 = []fakecluster.Resource{
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Namespace"), Name: "namespaces", ClusterScoped: true, Status: true, Type: func() any { return &corev1.Namespace{} }},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret"), Name: "secrets", Type: func() any { return &corev1.Secret{} }},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Name: "configmaps", Type: func() any { return &corev1.ConfigMap{} }},
	}
)

var distributions = fixture.Package[Options, Snapshot, Plan]{New: New, NewReconciler: NewReconciler, Acts: func(p *Plan) bool {
	return p.String() != "nothing" || p.Status(p.Failed, noon) != nil
}}

func connect(c *fixture.Cluster, user string) client.Interface {
	c.T.Helper()
	return fixture.Connect(c.T, c.Server, user, client.NewForConfig)
}

// options are those of a controller that shares informers; share may return nil.
func options(c *fixture.Cluster, share func(cache.SharedIndexInformer) cache.SharedIndexInformer) Options {
	c.T.Helper()
	kube, d := c.Client(fixture.ControllerUser), connect(c, fixture.ControllerUser)
	return Options{Kubernetes: kube, Distribution: d, ControllerOptions: podwright.ControllerOptions{Recorders: c.Events.Of},
		Distributions: share(client.NewResourceDistributionInformer(d, 0, nil)), Namespaces: share(caches.NewInformers(kube, "").Namespaces()),
		Secrets: share(NewSecretInformer(kube)), ConfigMaps: share(NewConfigMapInformer(kube))}
}

func createNamespaces(c *fixture.Cluster, names ...string) {
	c.T.Helper()
	for _, namespace := range namespaces(names...) {
		_, err := c.Kube.CoreV1().Namespaces().Create(c.T.Context(), namespace, metav1.CreateOptions{})
		c.Must(err)
	}
}

// copies are the Secrets of a name, without what differs from one cluster to another.
func copies(c *fixture.Cluster, name string) (lines []string) {
	c.T.Helper()
	secrets, err := c.Kube.CoreV1().Secrets("").List(c.T.Context(), metav1.ListOptions{})
	c.Must(err)
	for _, s := range secrets.Items {
		if s.Name == name {
			lines = append(lines, fmt.Sprintf("%s %s of %s", s.Namespace, s.Data["key"], ownerOf(&s)))
		}
	}
	slices.Sort(lines)
	return lines
}

// TestConformance distributes a Secret to three namespaces, and then another one to two. (RD-6, RD-8, RD-9)
func TestConformance(t *testing.T) {
	const two = `{"spec":{"resource":{"data":{"key":"dHdv"}},"targets":{"excludedNamespaces":{"list":[{"name":"ns-3"}]}}}}`
	conformance.Test(t, conformance.Subject{
		Resource: distributionResource, More: more,
		Watches: []string{"resourcedistributions", "namespaces", "secrets", "configmaps"},
		Writes:  []string{"create secrets", "update secrets", "delete secrets", "patch resourcedistributions/status"},
		Repeats: []string{"create secrets"}, // of one name, in the next namespace
		Unasked: map[string]string{
			"get /configmaps": "the scenario distributes a Secret", "create /configmaps": "the same", "update /configmaps": "the same", "delete /configmaps": "the same",
		},
		New: func(c *conformance.Cluster) (conformance.Controller, error) {
			o := options(c.Cluster, c.Share)
			o.Metrics = c.Reconciles
			return conformance.Made(distributions, o, Rules(o))
		},
		Prepare: func(c *conformance.Cluster) { createNamespaces(c.Cluster, "ns-1", "ns-2", "ns-3", "kube-system") },
		Create: func(c *conformance.Cluster, name string) {
			c.Create(newDistribution(c.T, strings.Replace(secretYAML, "pull", name, 1), all), `{"metadata":{"name":"`+name+`","uid":null,"generation":null}}`)
		},
		Change: func(c *conformance.Cluster, name string) { c.EditNamed(name, two) },
		Outcome: func(c *conformance.Cluster, name string) string {
			d := distributed(c.Cluster, name)
			return fmt.Sprintf("%s\n%d desired, %d succeeded, %d failed, generation %d", strings.Join(copies(c.Cluster, name), "\n"), d.Status.Desired, d.Status.Succeeded, d.Status.Failed, d.Status.ObservedGeneration)
		},
	})
}

// in plays a scenario with one ResourceDistribution, whose controller runs.
func in(t *testing.T, names []string, scenario func(t *testing.T, c *fixture.Cluster), edits ...func(*Options)) {
	t.Helper()
	var cluster *fixture.Cluster
	fixture.Play(t, distributionResource, func(c *fixture.Cluster) { cluster = c }, func(t *testing.T) {
		t.Helper()
		createNamespaces(cluster, names...)
		o := options(cluster, func(cache.SharedIndexInformer) cache.SharedIndexInformer { return nil })
		defer fixture.StartNew(cluster, New, o, edits...)()
		scenario(t, cluster)
	}, more...)
}

func create(c *fixture.Cluster, targets string) {
	c.T.Helper()
	c.Create(newDistribution(c.T, secretYAML, targets), `{"metadata":{"uid":null,"generation":null}}`)
}

// distributed is the ResourceDistribution of a name.
func distributed(c *fixture.Cluster, name string) *v1alpha1.ResourceDistribution {
	c.T.Helper()
	d, err := connect(c, fixture.TestUser).ResourceDistributions().Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return d
}

// status is the status, in one line.
func status(c *fixture.Cluster) string {
	c.T.Helper()
	d := distributed(c, "pull")
	line := fmt.Sprintf("%d/%d", d.Status.Succeeded, d.Status.Desired)
	for _, condition := range d.Status.Conditions {
		if condition.Status == "True" && condition.Type != v1alpha1.ResourceDistributionHeldUp {
			line += fmt.Sprintf(" %s %v", condition.Type, condition.FailedNamespaces)
		}
	}
	return line
}

// Of the Secrets of a cluster only the copies are cached, by their label, so 10,000 others cost no memory. (RD-5)
func TestForeignSecretsAreNotCached(t *testing.T) {
	in(t, []string{"ns-1", "ns-2"}, func(t *testing.T, c *fixture.Cluster) {
		for i := range 10_000 {
			foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns-1", Name: fmt.Sprintf("foreign-%d", i)}, Data: map[string][]byte{"key": make([]byte, 1000)}}
			_, err := c.Kube.CoreV1().Secrets("ns-1").Create(t.Context(), foreign, metav1.CreateOptions{})
			c.Must(err)
		}
		create(c, all)
		c.Sleep("10s")
		cached := NewSecretInformer(c.Client(fixture.ControllerUser)) // as that of the controller
		defer c.Start(fixture.Informing(cached))()
		c.Sleep("10s")
		keys := cached.GetStore().ListKeys()
		slices.Sort(keys)
		if diff := cmp.Diff([]string{"ns-1/pull", "ns-2/pull"}, keys); diff != "" {
			t.Errorf("cached Secrets (-want +got):\n%s", diff)
		}
	})
}
