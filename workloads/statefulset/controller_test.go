// SPDX-License-Identifier: Apache-2.0

package statefulset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// story is what happens to a StatefulSet of five pods.
type story struct {
	name  string
	setup string // a merge patch
	steps []func(*cluster)
	end   func(*cluster) // checks the end; nil: everything is as the spec says
}

// play plays stories with nothing but events to drive the controller.
func play(t *testing.T, stories []story) {
	t.Helper()
	for _, story := range stories {
		t.Run(story.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				p, stop := c.start()
				defer stop()
				c.create(5, story.setup)
				c.ExpectSettled()
				fixture.Steps(c.Cluster, p, c, story.steps)
				if story.end != nil {
					story.end(c)
					return
				}
				c.whole()
				if got := c.Conditions(); len(got) > 0 {
					t.Errorf("conditions %q", got)
				}
			})
		})
	}
}

// does is a step that changes the StatefulSet by merge patches.
func does(patches ...string) func(*cluster) {
	return func(c *cluster) {
		for _, patch := range patches {
			c.Edit(patch)
		}
	}
}

func images(images ...string) (steps []func(*cluster)) {
	for _, image := range images {
		steps = append(steps, func(c *cluster) { c.SetImage(image) })
	}
	return steps
}

const parallel2 = `{"spec":{"podManagementPolicy":"Parallel","updateStrategy":{"rollingUpdate":{"maxUnavailable":2}}}}`

func TestController(t *testing.T) {
	scale := []func(*cluster){does(`{"spec":{"replicas":7}}`), does(`{"spec":{"replicas":2}}`), does(`{"spec":{"replicas":0}}`), does(`{"spec":{"replicas":3}}`)}
	fails := func(name string) func(*cluster) {
		return func(c *cluster) { c.PatchPod(name, `{"status":{"phase":"Failed"}}`, "status") }
	}
	deletes := func(names ...string) func(*cluster) {
		return func(c *cluster) {
			for _, name := range names {
				c.DeletePod(name)
			}
		}
	}
	play(t, []story{
		{"OrderedReady: creation", "", nil, nil},
		{"OrderedReady: creation with claims", withClaims, nil, nil},
		{"OrderedReady: scale out and in", withClaims, scale, nil},
		{"Parallel: creation", withParallel, nil, nil},
		{"Parallel: scale out and in", withParallel, scale, nil},
		{"STS-9: scaleStrategy.maxUnavailable", `{"spec":{"podManagementPolicy":"Parallel","scaleStrategy":{"maxUnavailable":2}}}`, scale, nil},
		{"OrderedReady: updates in place with a short history", `{"spec":{"revisionHistoryLimit":1}}`, images("nginx:2", "nginx:3", "nginx:4", "nginx:2"), nil},
		{"OrderedReady: updates by recreation with a short history", `{"spec":{"revisionHistoryLimit":0,"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"ReCreate"}}}}`, images("nginx:2", "nginx:3"), nil},
		{"Parallel: updates in place, two at a time", parallel2, images("nginx:2", "nginx:1"), nil},
		{"STS-17: a partition, and back in the middle", `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":3}}}}`,
			append(images("nginx:2", "nginx:1", "nginx:2"), does(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)), nil},
		{"STS-E6: unordered", `{"spec":{"podManagementPolicy":"Parallel","updateStrategy":{"rollingUpdate":{"partition":3,"unorderedUpdate":{}}}}}`,
			append(images("nginx:2"), does(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)), nil},
		{"STS-12: paused, and resumed", `{"spec":{"updateStrategy":{"rollingUpdate":{"paused":true}}}}`,
			append(images("nginx:2"), does(`{"spec":{"updateStrategy":{"rollingUpdate":{"paused":false}}}}`)), nil},
		{"STS-22: OnDelete", `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`,
			append(images("nginx:2"), deletes("web-0", "web-3"), deletes("web-1", "web-2", "web-4")),
			func(c *cluster) {
				if s := c.get().Status; s.UpdatedReadyReplicas != 5 {
					c.T.Errorf("status %+v", s)
				}
			}},
		{"IP-13: a grace period", `{"spec":{"updateStrategy":{"rollingUpdate":{"inPlaceUpdateStrategy":{"gracePeriodSeconds":3}}}}}`, images("nginx:2"), nil},
		{"STS-8: minReadySeconds", `{"spec":{"podManagementPolicy":"Parallel","updateStrategy":{"rollingUpdate":{"minReadySeconds":7}}}}`, images("nginx:2"), nil},
		{"STS-E15: reserved ordinals", withClaims, []func(*cluster){
			does(`{"spec":{"reserveOrdinals":[1]}}`), does(`{"spec":{"reserveOrdinals":[0,3]}}`), does(`{"spec":{"reserveOrdinals":null}}`)}, nil},
		{"pods deleted by the user", withClaims, []func(*cluster){deletes("web-0"), deletes("web-1", "web-2"), deletes("web-4", "web-3", "web-2", "web-1", "web-0")}, nil},
		{"STS-4: pods that fail", withClaims, []func(*cluster){fails("web-0"), fails("web-4"), func(c *cluster) { fails("web-1")(c); fails("web-2")(c) }}, nil},
		{"STS-10: a pod that lost the label with its name", "", []func(*cluster){func(c *cluster) {
			c.PatchPod("web-1", `{"metadata":{"labels":{"statefulset.kubernetes.io/pod-name":null}}}`)
		}}, nil},
		{"OrderedReady: a broken image, and its repair", "", images("nginx:bad", "nginx:3"), nil},
		{"OrderedReady: a broken image, and back", withRecreate, images("nginx:bad", "nginx:1"), nil},
		{"OrderedReady: broken from the beginning, and its repair", `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:bad"}]}}}}`, images("nginx:2"), nil},
		{"Parallel: a broken image, and back", parallel2, images("nginx:bad", "nginx:1"), nil},
		{"STS-26: deletion", withClaims, []func(*cluster){func(c *cluster) { c.Delete() }}, func(c *cluster) {
			if names := c.PodNames(); len(names) > 0 || len(c.claims()) != 5 {
				c.T.Errorf("pods %v, claims %v", names, c.claims())
			}
		}},
		{"deletion that leaves pods, and a new StatefulSet that takes them over", withClaims, []func(*cluster){
			func(c *cluster) { c.Orphan() }, func(c *cluster) { c.create(5, withClaims) },
			func(c *cluster) { c.SetImage("nginx:2") }}, nil},
	})
}

func TestControllerHooks(t *testing.T) {
	const hooks = `{"spec":{"lifecycle":{"preDelete":{"labelsHandler":{"hold":"true"}},"inPlaceUpdate":{"labelsHandler":{"hold":"true"}}},
		"template":{"metadata":{"labels":{"app":"web","hold":"true"}}}}}`
	hold := func(value string) func(*cluster) { return func(c *cluster) { c.LabelPods("hold", value) } }
	rollout := append(images("nginx:2"), hold("false"), hold("true"), hold("false"), hold("true"), hold("false"), hold("true"),
		hold("false"), hold("true"), hold("false"), hold("true"))
	scaleIn := []func(*cluster){does(`{"spec":{"replicas":3}}`), hold("false"), hold("true"), hold("false")}
	play(t, []story{
		{"OrderedReady: inPlaceUpdate hooks", hooks, rollout, nil},
		{"Parallel: inPlaceUpdate hooks", strings.Replace(hooks, `"spec":{`, `"spec":{"podManagementPolicy":"Parallel",`, 1), rollout, nil},
		{"STS-13, OrderedReady: preDelete hooks", hooks, scaleIn, nil},
		{"STS-13, Parallel: preDelete hooks", strings.Replace(hooks, `"spec":{`, `"spec":{"podManagementPolicy":"Parallel",`, 1), scaleIn, nil},
		{"a deletion that is taken back", hooks, []func(*cluster){does(`{"spec":{"replicas":3}}`), does(`{"spec":{"replicas":5}}`)}, nil},
		{"a pod that fails, with a hook", hooks, []func(*cluster){
			func(c *cluster) { c.PatchPod("web-2", `{"status":{"phase":"Failed"}}`, "status") }, hold("false")}, nil},
	})
}

func TestControllerRetention(t *testing.T) {
	policy := func(whenDeleted, whenScaled string) string {
		return `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"` + whenDeleted + `","whenScaled":"` + whenScaled + `"},
			"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`
	}
	claims := func(want ...string) func(*cluster) {
		return func(c *cluster) {
			c.T.Helper()
			if diff := cmp.Diff(append([]string{}, want...), c.claims()); diff != "" {
				c.T.Errorf("claims (-want +got):\n%s", diff)
			}
		}
	}
	scaleTo := func(n string) func(*cluster) { return does(`{"spec":{"replicas":` + n + `}}`) }
	play(t, []story{
		{"STS-23: Retain", policy("Retain", "Retain"), []func(*cluster){scaleTo("2")}, claims("data-web-0", "data-web-1", "data-web-2", "data-web-3", "data-web-4")},
		{"STS-23: whenScaled Delete", policy("Retain", "Delete"), []func(*cluster){scaleTo("2")}, claims("data-web-0", "data-web-1")},
		{"STS-23: both Delete", policy("Delete", "Delete"), []func(*cluster){scaleTo("2")}, claims("data-web-0 StatefulSet", "data-web-1 StatefulSet")},
		{"STS-E16: whenDeleted Delete", policy("Delete", "Retain"), []func(*cluster){func(c *cluster) { c.Delete() }}, claims()},
		{"STS-E17: down and up quickly", policy("Retain", "Delete"), []func(*cluster){does(`{"spec":{"replicas":4}}`, `{"spec":{"replicas":5}}`)}, nil},
		{"the policy changes", policy("Delete", "Delete"), []func(*cluster){does(policy("Retain", "Retain"))}, claims("data-web-0", "data-web-1", "data-web-2", "data-web-3", "data-web-4")},
		{"the policy changes after pods were scaled away", policy("Delete", "Retain"), []func(*cluster){scaleTo("2"), does(policy("Retain", "Retain")), func(c *cluster) { c.Delete() }},
			claims("data-web-0", "data-web-1", "data-web-2", "data-web-3", "data-web-4")},
		{"STS-24: reserved ordinals", policy("Retain", "Delete"), []func(*cluster){does(`{"spec":{"reserveOrdinals":[1]}}`), scaleTo("3")}, claims("data-web-0", "data-web-1", "data-web-2", "data-web-3")},
		{"STS-E19: a new claim template, and pods recreated by the user", policy("Retain", "Retain"), []func(*cluster){
			does(`{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}},{"metadata":{"name":"logs"},"spec":{}}]}}`),
			func(c *cluster) {
				if got := c.Conditions(); len(got) != 1 || !strings.HasPrefix(got[0], "FailedUpdatePod: pod web-0 and 4 more: does not mount the claims") {
					c.T.Errorf("conditions %q", got)
				}
				for _, name := range c.PodNames() {
					c.DeletePod(name)
				}
			}}, nil},
		{"a claim deleted by the user, and its pod", policy("Retain", "Retain"), []func(*cluster){func(c *cluster) {
			c.deleteClaim("data-web-3")
			c.DeletePod("web-3")
		}}, nil},
		{"an owner of a claim taken away by the user", policy("Delete", "Retain"), []func(*cluster){func(c *cluster) {
			c.patchClaim("data-web-2", `{"metadata":{"ownerReferences":null}}`)
		}}, claims("data-web-0 StatefulSet", "data-web-1 StatefulSet", "data-web-2 StatefulSet", "data-web-3 StatefulSet", "data-web-4 StatefulSet")},
	})
}

// TestInTheWay is about what has the name of a pod or a claim, and goes away.
func TestInTheWay(t *testing.T) {
	for _, test := range []struct {
		name       string
		come, goes func(*cluster)
		ready      int32  // of 3 pods, in the meantime
		condition  string // in the meantime
	}{
		{"a pod of nobody that the selector does not match",
			func(c *cluster) { c.CreatePod(stranger("web-1", nil)) }, func(c *cluster) { c.DeletePod("web-1") }, 2, "FailedCreatePod: create pod web-1"},
		{"a pod of another controller", func(c *cluster) {
			pod := stranger("web-1", map[string]string{"app": "web"})
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "other", Controller: new(true)}}
			c.CreatePod(pod)
		}, func(c *cluster) { c.RemovePod("web-1") }, 2, "FailedCreatePod: create pod web-1"},
		{"a claim that is being deleted", func(c *cluster) { c.createClaim("data-web-1", "example.com/hold"); c.deleteClaim("data-web-1") },
			func(c *cluster) { c.patchClaim("data-web-1", `{"metadata":{"finalizers":null}}`) }, 2, "FailedCreatePod: create pod web-1: claim data-web-1"},
		{"a claim that goes with a former pod", func(c *cluster) {
			c.createClaim("data-web-1", "")
			c.patchClaim("data-web-1", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"web-1","uid":"former"}]}}`)
		}, func(c *cluster) { c.deleteClaim("data-web-1") }, 2, ""},
		{"a claim that goes with a former pod, and then does not", func(c *cluster) {
			c.createClaim("data-web-1", "")
			c.patchClaim("data-web-1", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"web-1","uid":"former"}]}}`)
		}, func(c *cluster) { c.patchClaim("data-web-1", `{"metadata":{"ownerReferences":null}}`) }, 2, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				p, stop := c.start()
				defer stop()
				test.come(c)
				c.create(3, spec(c, withParallel, withClaims))
				for range 5 {
					c.KubeletStep()
					c.Sleep("2s")
				}
				if got := c.get().Status.ReadyReplicas; got != test.ready {
					t.Errorf("%d pods are ready, want %d", got, test.ready)
				}
				if got := strings.Join(c.Conditions(), "\n"); !strings.HasPrefix(got, test.condition) || (got == "") != (test.condition == "") {
					t.Errorf("conditions %q, want %q", got, test.condition)
				}
				before := p.Count()
				c.Sleep("1h")
				if p.Count() > before+30 {
					t.Errorf("%d reconciles in an hour of waiting", p.Count()-before)
				}
				test.goes(c)
				c.ExpectSettled()
				c.whole()
				if got := c.Conditions(); len(got) > 0 {
					t.Errorf("conditions %q", got)
				}
			})
		})
	}
}
