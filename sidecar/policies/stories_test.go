// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/conformance"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection/policy"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// resources are what the fake cluster has to know.
func resources() (sets, policies, bindings fakecluster.Resource) {
	sets = fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("SidecarSet"), string(resourceSidecarSets))
	sets.ClusterScoped = true
	of := func(kind string, name podwright.Resource, object func() any) fakecluster.Resource {
		return fakecluster.Resource{GroupVersionKind: admissionregistrationv1.SchemeGroupVersion.WithKind(kind), Name: string(name),
			ClusterScoped: true, Generation: true, Type: object}
	}
	return sets, of("MutatingAdmissionPolicy", resourcePolicies, func() any { return &admissionregistrationv1.MutatingAdmissionPolicy{} }),
		of("MutatingAdmissionPolicyBinding", resourceBindings, func() any { return &admissionregistrationv1.MutatingAdmissionPolicyBinding{} })
}

// served is the discovery of an API server.
type served struct {
	discovery.ServerResourcesInterface
	resources []metav1.APIResource
	err       error
}

func (s served) ServerResourcesForGroupVersion(string) (*metav1.APIResourceList, error) {
	return &metav1.APIResourceList{APIResources: s.resources}, s.err
}

// discoveries are those of API servers that serve policies, or do not.
var discoveries = map[string]served{
	"policies": {resources: []metav1.APIResource{{Name: string(resourcePolicies)}}},
	"others":   {},
	"no-group": {err: apierrors.NewNotFound(admissionregistrationv1.Resource("x"), "x")},
	"silence":  {err: errors.New("no answer")},
}

// optionsIn are those of a controller in a cluster.
func optionsIn(c *fixture.Cluster) Options {
	return Options{Kubernetes: c.Client(fixture.ControllerUser), Sidecar: fixture.Connect(c.T, c.Server, fixture.ControllerUser, client.NewForConfig),
		ControllerOptions: podwright.ControllerOptions{Recorders: c.Events.Of}, Discovery: discoveries["policies"]}
}

// observe writes a revision of the spec of a SidecarSet, unless there is one of the number, and tells of it in the status.
func observe(c *fixture.Cluster, name string, number int) {
	c.T.Helper()
	sets := fixture.Connect(c.T, c.Server, fixture.TestUser, client.NewForConfig).SidecarSets()
	set, err := sets.Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	revision := revisionOf(c.T, set, number)
	_, err = c.Kube.AppsV1().ControllerRevisions(revision.Namespace).Create(c.T.Context(), revision, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		c.Must(err)
	}
	set.Status.LatestRevision, set.Status.ObservedGeneration = revision.Name, set.Generation
	_, err = sets.UpdateStatus(c.T.Context(), set, metav1.UpdateOptions{})
	c.Must(err)
	c.Sleep("1s")
}

// shown is what tells of the text of a policy.
var shown = regexp.MustCompile(`\blog:\d|\d{4}-\d\d-\d\dT[\d:]+Z|failurePolicy: \w+`)

// stands shows the policy that stands and is bound.
func stands(c *fixture.Cluster, set string) string {
	c.T.Helper()
	admission := c.Kube.AdmissionregistrationV1()
	p, missing := admission.MutatingAdmissionPolicies().Get(c.T.Context(), policy.Name(set), metav1.GetOptions{})
	_, unbound := admission.MutatingAdmissionPolicyBindings().Get(c.T.Context(), policy.Name(set), metav1.GetOptions{})
	if missing != nil || unbound != nil {
		return fmt.Sprintf("policy there %t, bound %t", missing == nil, unbound == nil)
	}
	text, err := yaml.Marshal(p.Spec)
	c.Must(err)
	out := p.Annotations[policy.RevisionAnnotation] + " stands"
	for _, part := range slices.Compact(slices.Sorted(slices.Values(shown.FindAllString(string(text), -1)))) {
		out += ", " + part
	}
	return out
}

// TestStories plays the stories in testdata: see fixture.PlayStories. "observe 2" has the controller of SidecarSets write the revision web-2 of the
// spec, and tell of it. "spoil", "drop" and "take" of a resource change the policy or its binding as users do, delete it, or make one of its name.
// "state" shows the writes of the controller in their order, the policy that stands, and what the controller would do. Options are the failure
// policy, and what the API server serves.
func TestStories(t *testing.T) {
	sets, policies, bindings := resources()
	fixture.PlayStories(t, "testdata/stories", sets, func(c *fixture.Cluster) *fixture.Story {
		o := optionsIn(c)
		var running Controller
		c.Unfinished = func() string {
			left, err := tested.Unfinished(running, fixture.Web)
			c.Must(err)
			return left
		}
		user := func(verb, suffix, body string) func(...string) string {
			return func(resource ...string) string {
				request := c.Kube.CoreV1().RESTClient().Verb(verb).AbsPath("/apis/admissionregistration.k8s.io/v1", resource[0]+suffix).Body([]byte(body))
				request.SetHeader("Content-Type", map[bool]string{true: "application/merge-patch+json", false: "application/json"}[verb == http.MethodPatch])
				c.Must(request.Do(c.T.Context()).Error())
				c.Sleep("1s")
				return ""
			}
		}
		return &fixture.Story{
			New: func(int32) any {
				return &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: setOf(c.T, "{}").Spec}
			}, Restart: func() {},
			Option: func(name, value string) {
				o.FailurePolicy, o.Discovery = admissionregistrationv1.FailurePolicyType(value), discoveries["policies"]
				if name == "served" {
					o.FailurePolicy, o.Discovery = "", discoveries[value]
				}
			},
			Start: func() (*fixture.Reconciles, func()) {
				reconciles := &fixture.Reconciles{}
				o.Metrics = reconciles
				controller, err := New(o)
				c.Must(err)
				running = controller
				return reconciles, c.Start(controller.Run)
			},
			Further: map[string]func(...string) string{
				"observe": func(words ...string) string {
					observe(c, "web", int(words[0][0]-'0'))
					return ""
				},
				"spoil": user(http.MethodPatch, "/sidecarset-web", `{"spec":{"variables":null,"matchResources":{"matchPolicy":"Exact"}}}`),
				"drop":  user(http.MethodDelete, "/sidecarset-web", ""),
				"take":  user(http.MethodPost, "", `{"metadata":{"name":"sidecarset-web"}}`),
				"state": func(...string) (out string) {
					for _, r := range c.Requests(fixture.ControllerUser) {
						if !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
							out += r.String() + "\n"
						}
					}
					c.ForgetRequests()
					plan, err := running.Plan(c.T.Context(), types.NamespacedName{Name: "web"})
					c.Must(err)
					if plan == nil {
						plan = &Plan{}
					}
					return strings.TrimSpace(fmt.Sprint(out, stands(c, "web"), "\n", plan)) + "\n"
				},
				"all-requests": func(...string) string { return fmt.Sprintln(c.Count(fixture.ControllerUser)) },
			}}
	}, policies, bindings)
}

func TestOptions(t *testing.T) {
	server := fakecluster.New(nil)
	kube, sidecars := fixture.Connect(t, server, "test", kubernetes.NewForConfig), fixture.Connect(t, server, "test", client.NewForConfig)
	good := Options{Kubernetes: kube, Sidecar: sidecars}
	conformance.CheckOptions(t, conformance.Options[Options]{Good: good, Required: "Kubernetes Sidecar",
		New:           func(o Options) error { _, err := New(o); return err },
		NewReconciler: func(o Options) error { _, err := NewReconciler(o); return err }})
	good.FailurePolicy = "Perhaps"
	if _, err := New(good); err == nil || !strings.Contains(err.Error(), `Options.FailurePolicy is "Perhaps"`) {
		t.Errorf("error %v", err)
	}
}
