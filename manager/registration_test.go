// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// program is a Set that registers two webhooks, as the user agent "program", and what its condition and certificate authority are.
type program struct {
	fixture.Bubble
	user      kubernetes.Interface // another one
	set       *Set
	condition string
	authority string
	noTarget  error
	changed   func()
}

func newProgram(t *testing.T) *program {
	cluster := func(kind, name string, object func() any) fakecluster.Resource {
		return fakecluster.Resource{GroupVersionKind: admissionv1.SchemeGroupVersion.WithKind(kind), Name: name, ClusterScoped: true, Generation: true, Type: object}
	}
	p := &program{condition: "false", authority: "ca", Bubble: fixture.Bubble{T: t, Server: fakecluster.New(nil,
		cluster("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", func() any { return &admissionv1.MutatingWebhookConfiguration{} }),
		cluster("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", func() any { return &admissionv1.ValidatingWebhookConfiguration{} }))}}
	p.user = p.Kubernetes("user")
	pods := manifests.Resource("", "pods", "v1")
	var err error
	p.set, err = New(Options{Kubernetes: p.Kubernetes("program"), Target: func(context.Context) (Target, error) {
		return Target{Namespace: "own", Service: "hooks", CABundle: []byte(p.authority)}, p.noTarget
	}}, podwright.Kind{
		Webhooks: func() ([]admissionv1.MutatingWebhook, []admissionv1.ValidatingWebhook) {
			return []admissionv1.MutatingWebhook{manifests.Mutating("pod", "/mutate", pods, admissionv1.Create), manifests.Mutating("other", "/other", pods, admissionv1.Create)},
				[]admissionv1.ValidatingWebhook{manifests.Validating("pod", "/validate", pods, admissionv1.Delete)}
		},
		Admission: &podwright.Admission{
			Handlers:      map[string]http.Handler{"/mutate": http.NotFoundHandler(), "/validate": http.NotFoundHandler()},
			Conditions:    map[string]func(context.Context) (string, error){"/mutate": func(context.Context) (string, error) { return p.condition, nil }},
			OnMatchChange: func(changed func()) error { p.changed = changed; return nil },
		},
	})
	p.Must(err)
	return p
}

// during runs the program in a bubble.
func during(t *testing.T, prepare func(*program), test func(*program)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newProgram(t)
		prepare(p)
		p.Go(p.set.RunWebhooks)
		p.Sleep(5 * time.Second)
		test(p)
		p.Stop()
	})
}

// writes returns what the program has written since the last call, after a time.
func (p *program) writes(after time.Duration) (writes []string) {
	p.Sleep(after)
	for _, r := range p.Requests("program") {
		if r.Verb == "create" || r.Verb == "update" || r.Verb == "patch" || r.Verb == "delete" {
			writes = append(writes, r.Verb+" "+strings.TrimSuffix(r.Resource, "webhookconfigurations"))
		}
	}
	p.ForgetRequests()
	return writes
}

func (p *program) want(step string, after time.Duration, want ...string) {
	p.Helper()
	if diff := cmp.Diff(want, p.writes(after)); diff != "" {
		p.Errorf("%s: writes (-want +got):\n%s", step, diff)
	}
}

func (p *program) mutating() *admissionv1.MutatingWebhookConfiguration {
	p.Helper()
	c, err := p.user.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(p.Context(), MutatingName, metav1.GetOptions{})
	p.Must(err)
	return c
}

// edit patches the mutating configuration as another writer.
func (p *program) edit(patch string) {
	p.Helper()
	_, err := p.user.AdmissionregistrationV1().MutatingWebhookConfigurations().Patch(p.Context(), MutatingName, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	p.Must(err)
}

// Both configurations are created whole, and kept so: whatever another writer does to them, and when what they are made of changes.
func TestKeepRegistered(t *testing.T) {
	during(t, func(*program) {}, func(p *program) {
		p.want("at the start", 0, "create mutating", "create validating")
		mutating, validating, err := p.set.Configurations(p.Context(), Target{Namespace: "own", Service: "hooks", CABundle: []byte("ca")})
		p.Must(err)
		if len(mutating.Webhooks) != 1 || len(validating.Webhooks) != 1 || mutating.Webhooks[0].MatchConditions[0].Expression != "false" {
			p.Errorf("configurations %+v %+v", mutating.Webhooks, validating.Webhooks)
		}
		if diff := cmp.Diff(mutating.Webhooks, p.mutating().Webhooks); diff != "" {
			p.Errorf("PF-5.1: what stands is not what Configurations returns (-want +got):\n%s", diff)
		}
		p.want("nothing changes", time.Hour)
		p.edit(`{"webhooks":null}`)
		p.want("PF-5: an edit is undone", 5*time.Second, "update mutating")
		p.Must(p.user.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(p.Context(), ValidatingName, metav1.DeleteOptions{}))
		p.want("PF-5: what is deleted comes again", 5*time.Second, "create validating")
		p.condition = "true"
		p.changed()
		p.want("a condition changes", 5*time.Second, "update mutating")
		if got := p.mutating().Webhooks[0].MatchConditions[0].Expression; got != "true" {
			p.Errorf("the condition is %s", got)
		}
		p.authority = "another"
		p.want("PF-5: another authority", 2*time.Minute, "update mutating", "update validating")
		p.noTarget = errors.New("no certificate")
		p.edit(`{"webhooks":null}`)
		p.want("no target", time.Hour)
		p.noTarget = nil
		p.want("and again one", 2*time.Minute, "update mutating")
	})
}

// What another writer undoes again and again is written more and more seldom, and at once again when there is peace.
func TestRegistrationDoesNotFight(t *testing.T) {
	during(t, func(*program) {}, func(p *program) {
		fight, stop := context.WithCancel(p.Context())
		watch, err := p.user.AdmissionregistrationV1().MutatingWebhookConfigurations().Watch(fight, metav1.ListOptions{})
		p.Must(err)
		go func() {
			for event := range watch.ResultChan() {
				if c, ok := event.Object.(*admissionv1.MutatingWebhookConfiguration); ok && len(c.Webhooks) > 0 && fight.Err() == nil {
					p.edit(`{"webhooks":null}`)
				}
			}
		}()
		if n := len(p.writes(time.Hour)); n < 30 || n > 70 {
			p.Errorf("%d writes in an hour", n)
		}
		stop()
		watch.Stop()
		p.writes(5 * time.Minute)
		p.edit(`{"webhooks":null}`)
		p.want("after the fight", 5*time.Second, "update mutating")
	})
}

// What cannot be written is tried less and less often, and not given up.
func TestRegistrationBacksOff(t *testing.T) {
	during(t, func(p *program) {
		p.FailBefore(func(r fakecluster.Request) error {
			if r.Verb == "create" {
				return apierrors.NewForbidden(schema.GroupResource{Resource: r.Resource}, MutatingName, errors.New("no such role"))
			}
			return nil
		})
	}, func(p *program) {
		if n := len(p.writes(time.Hour)); n < 50 || n > 80 {
			p.Errorf("%d tries in an hour", n)
		}
		p.FailBefore(nil)
		p.want("when it may", 2*time.Minute, "create mutating", "create validating")
	})
}

// A configuration that came with OpenKruise is rebuilt from its own list, which stays in the annotation; no other configuration is touched.
func TestRegistrationTakesOver(t *testing.T) {
	during(t, func(p *program) {
		pods := manifests.Resource("", "pods", "v1")
		for _, name := range []string{MutatingName, "another"} {
			c := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionv1.MutatingWebhook{
				manifests.Mutating("theirs", "/mutate", pods, admissionv1.Update), manifests.Mutating("gone", "/gone", pods, admissionv1.Create)}}
			_, err := p.user.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(p.Context(), c, metav1.CreateOptions{})
			p.Must(err)
		}
	}, func(p *program) {
		p.want("PF-5: at the start", 0, "update mutating", "create validating")
		c := p.mutating()
		var names []string
		for _, w := range c.Webhooks {
			names = append(names, w.Name+" "+w.ClientConfig.Service.Name)
		}
		if diff := cmp.Diff([]string{"mtheirs.kb.io hooks"}, names); diff != "" || !strings.Contains(c.Annotations[TemplateAnnotation], "mgone.kb.io") {
			p.Errorf("annotations %v, webhooks (-want +got):\n%s", c.Annotations, diff)
		}
		p.want("then nothing", time.Hour)
	})
}

// The rules are what the program asks, and no more.
func TestRegistrationRules(t *testing.T) {
	during(t, func(*program) {}, func(p *program) {
		p.edit(`{"webhooks":null}`)
		p.authority = "another"
		time.Sleep(2 * time.Minute)
		used := map[string]bool{}
		for _, r := range p.Requests("program") {
			used[r.Verb+" "+r.Resource] = true
		}
		for _, rule := range RegistrationRules() {
			for _, verb := range rule.Verbs {
				key := verb + " " + rule.Resources[0]
				if !used[key] && verb != "list" { // which an informer does if it cannot stream a list
					p.Errorf("%s is allowed, and not used", key)
				}
				delete(used, key)
			}
		}
		for key := range used {
			p.Errorf("%s is used, and not allowed", key)
		}
		if parts := p.set.Permissions(); !slices.ContainsFunc(parts, func(part Part) bool {
			return part.Allows("update", admissionv1.GroupName, "mutatingwebhookconfigurations", "", MutatingName)
		}) {
			p.Errorf("the program may not register: %+v", parts)
		}
	})
}
