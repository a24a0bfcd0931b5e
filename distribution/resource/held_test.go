// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// heldUp is the condition HeldUp of the ResourceDistribution pull.
func heldUp(c *fixture.Cluster) (condition v1alpha1.ResourceDistributionCondition) {
	c.T.Helper()
	d, err := connect(c, fixture.TestUser).ResourceDistributions().Get(c.T.Context(), "pull", metav1.GetOptions{})
	c.Must(err)
	for _, condition := range d.Status.Conditions {
		if condition.Type == v1alpha1.ResourceDistributionHeldUp {
			condition.FailedNamespaces = nil
			return condition
		}
	}
	return condition
}

// refuse has the API server refuse a request of the controller, in ns-1.
func refuse(c *fixture.Cluster, request string) {
	c.FailBefore(func(r fakecluster.Request) error {
		if r.User == fixture.ControllerUser && r.String() == request && r.Namespace == "ns-1" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "pull", errors.New("exceeded quota"))
		}
		return nil
	})
}

// RD-25: after a minute the condition tells what holds a ResourceDistribution up. The condition keeps its time while that lasts, and costs
// nothing more. Once that is over, the condition does not tell it any more.
func TestHeldUp(t *testing.T) {
	for _, test := range []struct {
		name   string
		begins func(c *fixture.Cluster)
		want   string
		ends   func(c *fixture.Cluster)
		asks   bool // what is refused is asked again
	}{
		{name: "a namespace that is not there", begins: func(c *fixture.Cluster) {
			create(c, "{includedNamespaces: {list: [{name: ns-1}, {name: ns-9}]}}")
		}, want: "NamespaceNotExists: namespace ns-9: namespace not found or is terminating", ends: func(c *fixture.Cluster) { createNamespaces(c, "ns-9") }},
		{name: "a quota", asks: true, begins: func(c *fixture.Cluster) {
			refuse(c, "create secrets")
			create(c, all)
		}, want: `CreateResourceFailed: namespace ns-1: secrets "pull" is forbidden: exceeded quota`, ends: func(c *fixture.Cluster) {
			c.FailBefore(nil)
			c.Sleep("10m") // the back-off
		}},
		{name: "an update that is refused", asks: true, begins: func(c *fixture.Cluster) {
			create(c, all)
			c.Sleep("1s")
			refuse(c, "update secrets")
			edit(c, `{"spec":{"resource":{"data":{"key":"dHdv"}}}}`)
		}, want: `UpdateResourceFailed: namespace ns-1: secrets "pull" is forbidden: exceeded quota`, ends: func(c *fixture.Cluster) {
			c.FailBefore(nil)
			c.Sleep("10m") // the back-off
		}},
		{name: "a deletion that is refused", asks: true, begins: func(c *fixture.Cluster) {
			create(c, all)
			c.Sleep("1s")
			refuse(c, "delete secrets")
			edit(c, `{"spec":{"targets":{"excludedNamespaces":{"list":[{"name":"ns-1"}]}}}}`)
		}, want: `DeleteResourceFailed: namespace ns-1: secrets "pull" is forbidden: exceeded quota`, ends: func(c *fixture.Cluster) {
			c.FailBefore(nil)
			c.Sleep("10m") // the back-off
		}},
		{name: "an object of another one that has the name", asks: true, begins: func(c *fixture.Cluster) {
			_, err := c.Kube.CoreV1().Secrets("ns-1").Create(c.T.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "pull"}}, metav1.CreateOptions{})
			c.Must(err)
			create(c, all)
		}, want: "ConflictOccurred: namespace ns-1: conflict with existing resources because of the same namespace, group, version, kind and name", ends: func(c *fixture.Cluster) {
			c.Must(c.Kube.CoreV1().Secrets("ns-1").Delete(c.T.Context(), "pull", metav1.DeleteOptions{}))
			c.Sleep("6m") // it is looked at again
		}},
		{name: "a copy that a finalizer holds", begins: func(c *fixture.Cluster) {
			create(c, all)
			c.Sleep("1s")
			secrets := c.Kube.CoreV1().Secrets("ns-1")
			_, err := secrets.Patch(c.T.Context(), "pull", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":["acme.io/hold"]}}`), metav1.PatchOptions{})
			c.Must(err)
			c.Must(secrets.Delete(c.T.Context(), "pull", metav1.DeleteOptions{}))
		}, want: "CreateResourceFailed: namespace ns-1: the copy is being deleted, and is created again when it is gone; its finalizers are acme.io/hold", ends: func(c *fixture.Cluster) {
			_, err := c.Kube.CoreV1().Secrets("ns-1").Patch(c.T.Context(), "pull", "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			c.Must(err)
		}},
		{name: "a spec that cannot be read", begins: func(c *fixture.Cluster) {
			create(c, "{namespaceLabelSelector: {matchExpressions: [{key: a, operator: Near}]}}")
		}, want: `BadValue: spec.targets.namespaceLabelSelector: "Near" is not a valid label selector operator`, ends: func(c *fixture.Cluster) {
			edit(c, `{"spec":{"targets":{"namespaceLabelSelector":null,"allNamespaces":true}}}`)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in(t, []string{"ns-1", "ns-2"}, func(t *testing.T, c *fixture.Cluster) {
				test.begins(c)
				c.Sleep("30s")
				if got := heldUp(c).Reason; got != "" {
					t.Errorf("before a minute is over: %s", got)
				}
				c.Sleep("31s")
				standing := heldUp(c)
				if standing.Reason != test.want {
					t.Errorf("after a minute:\n%s\nwant\n%s", standing.Reason, test.want)
				}
				c.ForgetRequests()
				if c.Sleep("10m"); !test.asks && len(c.Sent()) > 0 {
					t.Errorf("requests while it lasts: %v", c.Sent())
				}
				if now := heldUp(c); now.Reason != standing.Reason || now.LastTransitionTime != standing.LastTransitionTime {
					t.Errorf("the condition was %v, and is %v", standing, now)
				}
				test.ends(c)
				if c.Sleep("2m"); heldUp(c).Reason != "" {
					t.Errorf("once it is over: %s", heldUp(c).Reason)
				}
			})
		})
	}
}

// RD-25: a source that is missing holds all namespaces up.
func TestHeldUpByTheSource(t *testing.T) {
	inWith(t, []string{"ns-1", "ns-2"}, func(o *Options) { o.Features.Sources = true }, func(t *testing.T, c *fixture.Cluster) {
		d := newDistribution(t, "{apiVersion: v1, kind: Secret, metadata: {name: pull}}", all)
		d.UID, d.Generation, d.Spec.SourceRef = "", 0, &v1alpha1.ResourceDistributionSource{Namespace: "ns-1", Name: "origin"}
		_, err := connect(c, fixture.TestUser).ResourceDistributions().Create(t.Context(), d, metav1.CreateOptions{})
		c.Must(err)
		if c.Sleep("30s"); heldUp(c).Reason != "" {
			t.Errorf("before a minute is over: %s", heldUp(c).Reason)
		}
		c.Sleep("31s")
		if got, want := heldUp(c).Reason, "SourceMissing: source ns-1/origin: "; len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("%s, want %s…", got, want)
		}
	})
}

// RD-25: while nothing is held up, no request is made.
func TestHeldUpByNothing(t *testing.T) {
	in(t, []string{"ns-1", "ns-2"}, func(t *testing.T, c *fixture.Cluster) {
		create(c, all)
		c.Sleep("1s")
		c.ForgetRequests()
		if c.Sleep("10m"); heldUp(c).Reason != "" || len(c.Sent()) > 0 {
			t.Errorf("it says %q, requests: %v", heldUp(c).Reason, c.Sent())
		}
	})
}
