// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/manager/app"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed"
	podwrightmanager "github.com/podwright/podwright/manager"
	"github.com/podwright/podwright/workloads"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// fixture is a control plane and clients of it.
type fixture struct {
	*testing.T
	control    *cluster.Cluster
	config     app.Config
	kubernetes kubernetes.Interface
	workloads  client.Interface
	dynamic    dynamic.Interface
}

// newFixture has the test run beside others: most of the time it waits for leases, pods and timers of its own cluster.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	control := testbed.Control(t)
	w := &fixture{T: t, control: control}
	w.kubernetes = kubernetes.NewForConfigOrDie(control.Config())
	w.dynamic = dynamic.NewForConfigOrDie(control.Config())
	var err error
	if w.workloads, err = client.NewForConfig(control.Config()); err != nil {
		t.Fatal(err)
	}
	if w.config, err = app.NewConfig(func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	w.config.CreateOwnNamespace = true
	w.config.MetricsAddr, w.config.HealthProbeAddr = freeAddress(t), freeAddress(t)
	w.config.Webhook.Host, w.config.Webhook.BindAddress = "127.0.0.1", "127.0.0.1"
	if _, err := fmt.Sscanf(freeAddress(t), "127.0.0.1:%d", &w.config.Webhook.Port); err != nil {
		t.Fatal(err)
	}
	w.config.Webhook.CertWriter = "secret"
	w.config.LeaderElection.LeaseDuration, w.config.LeaderElection.RenewDeadline = 8*time.Second, 6*time.Second
	w.config.LeaderElection.RetryPeriod = 500 * time.Millisecond
	w.config.Kubeconfig = w.account(t.Context(), w.everything())
	return w
}

// manager is one that runs in this process.
type manager struct {
	config app.Config
	cancel context.CancelFunc
	ended  chan error
}

// start returns once a manager leads.
func (w *fixture) start(config app.Config) *manager {
	w.Helper()
	running := w.startReplica(config)
	w.eventually("leadership", func() error { return running.expect(config.MetricsAddr, "/metrics", "\nkruise_manager_is_leader 1") })
	return running
}

// startReplica returns once a manager is ready, whether it leads or not.
func (w *fixture) startReplica(config app.Config) *manager {
	w.Helper()
	var m *app.Manager
	w.eventually("the port of the webhooks", func() (err error) { // which a manager that has lost its Lease closes a bit later
		m, err = app.New(config)
		return err
	})
	ctx, cancel := context.WithCancel(w.Context())
	running := &manager{config, cancel, make(chan error, 1)}
	go func() { running.ended <- m.Run(ctx) }()
	w.eventually("readiness", func() error { return running.expect(config.HealthProbeAddr, "/readyz", "ok") })
	<-m.Ready()
	return running
}

// stop returns what Run returns.
func (m *manager) stop() error {
	m.cancel()
	return <-m.ended
}

// expect gets a page and looks for a text in it.
func (m *manager) expect(address, page, text string) error {
	select {
	case err := <-m.ended:
		m.ended <- err
		return fmt.Errorf("the manager has ended: %w", err)
	default:
	}
	response, err := http.Get("http://" + address + page)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || !strings.Contains(string(body), text) {
		return fmt.Errorf("%s answers %s without %q", page, response.Status, text)
	}
	return nil
}

// freeAddress returns one that no other test gets.
func freeAddress(t *testing.T) string {
	t.Helper()
	port, err := cluster.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// patience is how long a test waits for what takes seconds if nothing else runs.
const patience = 10 * time.Minute

// eventually waits until there is no error.
func (w *fixture) eventually(what string, try func() error) {
	w.Helper()
	var last error
	err := wait.PollUntilContextTimeout(w.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		last = try()
		return last == nil, nil
	})
	if err != nil {
		w.Fatalf("%s: %v: %v", what, err, last)
	}
}

// holder returns who holds the Lease.
func (w *fixture) holder() string {
	w.Helper()
	lease, err := w.kubernetes.CoordinationV1().Leases("kruise-system").Get(w.Context(), "kruise-manager", metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// versions returns the resourceVersions of all that a manager writes at its start.
func (w *fixture) versions() map[string]string {
	w.Helper()
	versions := map[string]string{}
	note := func(object metav1.Object, err error) {
		w.Helper()
		if err != nil {
			w.Fatal(err)
		}
		versions[object.GetName()] = object.GetResourceVersion()
	}
	ctx, admission := w.Context(), w.kubernetes.AdmissionregistrationV1()
	secret, err := w.kubernetes.CoreV1().Secrets("kruise-system").Get(ctx, "kruise-webhook-certs", metav1.GetOptions{})
	note(secret, err)
	mutating, err := admission.MutatingWebhookConfigurations().Get(ctx, podwrightmanager.MutatingName, metav1.GetOptions{})
	note(mutating, err)
	validating, err := admission.ValidatingWebhookConfigurations().Get(ctx, podwrightmanager.ValidatingName, metav1.GetOptions{})
	note(validating, err)
	for _, definition := range workloads.CRDs() {
		crd, err := w.dynamic.Resource(crds.Resource).Get(ctx, definition.GetName(), metav1.GetOptions{})
		note(crd, err)
	}
	return versions
}

func cloneSet(name string) *v1alpha1.CloneSet {
	labels := map[string]string{"app": name}
	return &v1alpha1.CloneSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: v1alpha1.CloneSetSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1.27"}}},
			},
		},
	}
}

func TestManagerOnARealControlPlane(t *testing.T) {
	w := newFixture(t)
	w.withoutCRDs()
	w.config.InstallCRDs = true
	w.config.Features.Gates = allGates
	first := w.start(w.config)
	w.webhooksWork()
	w.podsRun("sample")
	w.eventually("metrics", func() error {
		return first.expect(w.config.MetricsAddr, "/metrics", `controller_runtime_reconcile_total{controller="cloneset-controller",result="success"} `)
	})
	before := w.versions()
	if err := first.stop(); err != nil {
		t.Errorf("PF-4: an orderly end gives %v", err)
	}
	if holder := w.holder(); holder != "" {
		t.Errorf("PF-4: the Lease is still held by %q after the end", holder)
	}

	second := w.start(w.config)
	if diff := cmp.Diff(before, w.versions()); diff != "" {
		t.Errorf("PF-5: a restart writes (-before +after):\n%s", diff)
	}
	w.handEditIsReverted()
	w.leaseIsLost(second)
	w.adoptsAConfiguration()
}

// The API server asks the webhooks.
func (w *fixture) webhooksWork() {
	w.Helper()
	sets := w.workloads.CloneSets("default")
	if err := w.refusesWhatIsWrong(); err != nil {
		w.Error(err)
	}
	protected := cloneSet("protected")
	protected.Spec.Replicas = ptr.To[int32](0)
	protected.Labels = map[string]string{"policy.kruise.io/delete-protection": "Always"}
	created, err := sets.Create(w.Context(), protected, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	if got := created.Spec.Template.Spec.RestartPolicy; got != corev1.RestartPolicyAlways {
		w.Errorf("PF-5.1: the mutating webhook has not set the restartPolicy: %q", got)
	}
	if err := sets.Delete(w.Context(), "protected", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		w.Errorf("PF-5.1: deleting a protected CloneSet gives %v, want Forbidden", err)
	}
}

// refusesWhatIsWrong creates what a webhook refuses.
func (w *fixture) refusesWhatIsWrong() error {
	wrong := cloneSet("wrong")
	wrong.Spec.Template.Labels = map[string]string{"app": "another"}
	_, err := w.workloads.CloneSets("default").Create(w.Context(), wrong, metav1.CreateOptions{})
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusUnprocessableEntity || !strings.Contains(err.Error(), "spec.template.metadata.labels") {
		return fmt.Errorf("PF-5.1: a CloneSet that does not select its pods is answered with %w, want code 422 and the field", err)
	}
	return nil
}

// The controller works.
func (w *fixture) podsRun(name string) {
	w.Helper()
	sets := w.workloads.CloneSets("default")
	if _, err := sets.Create(w.Context(), cloneSet(name), metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.eventually("two ready pods of "+name, func() error {
		set, err := sets.Get(w.Context(), name, metav1.GetOptions{})
		if err == nil && set.Status.ReadyReplicas != 2 {
			err = fmt.Errorf("status: %+v", set.Status)
		}
		return err
	})
}

func (w *fixture) handEditIsReverted() {
	w.Helper()
	configurations := w.kubernetes.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	before, err := configurations.Get(w.Context(), podwrightmanager.ValidatingName, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	_, err = configurations.Patch(w.Context(), podwrightmanager.ValidatingName, types.MergePatchType, []byte(`{"webhooks":null}`), metav1.PatchOptions{})
	if err != nil {
		w.Fatal(err)
	}
	w.eventually("PF-5: a hand edit is reverted", func() error {
		configuration, err := configurations.Get(w.Context(), podwrightmanager.ValidatingName, metav1.GetOptions{})
		if err == nil && !cmp.Equal(before.Webhooks, configuration.Webhooks) {
			err = fmt.Errorf("%d webhooks", len(configuration.Webhooks))
		}
		return err
	})
}

// A manager ends with an error when another manager holds its Lease. The other one holds the Lease for longer than this
// manager tries to renew it.
func (w *fixture) leaseIsLost(m *manager) {
	w.Helper()
	thief := []byte(`{"spec":{"holderIdentity":"another","leaseDurationSeconds":10}}`)
	_, err := w.kubernetes.CoordinationV1().Leases("kruise-system").Patch(w.Context(), "kruise-manager", types.MergePatchType, thief, metav1.PatchOptions{})
	if err != nil {
		w.Fatal(err)
	}
	select {
	case err = <-m.ended:
	case <-time.After(patience):
		w.Fatal("a manager goes on without its Lease")
	}
	if err == nil || !strings.Contains(err.Error(), "leader election lost") {
		w.Errorf("PF-4: losing the Lease gives %v", err)
	}
	if holder := w.holder(); holder != "another" {
		w.Errorf("PF-4: the Lease of the next leader was taken away: it is held by %q", holder)
	}
}

// A configuration installed with OpenKruise's manifests keeps its list as the
// template, and loses the entries that no manager serves. It gets those that it lacks, and what 1.9 asks about without a version.
func (w *fixture) adoptsAConfiguration() {
	w.Helper()
	configurations := w.kubernetes.AdmissionregistrationV1().MutatingWebhookConfigurations()
	if err := configurations.Delete(w.Context(), podwrightmanager.MutatingName, metav1.DeleteOptions{}); err != nil {
		w.Fatal(err)
	}
	entry := func(name, path, resource string) admissionregistrationv1.MutatingWebhook {
		return admissionregistrationv1.MutatingWebhook{
			Name: name, SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1", "v1beta1"},
			FailurePolicy: ptr.To(admissionregistrationv1.Ignore), // no manager serves it yet
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{Namespace: "kruise-system", Name: "kruise-webhook-service", Path: &path},
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{resource}},
			}},
		}
	}
	installed := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: podwrightmanager.MutatingName},
		Webhooks: []admissionregistrationv1.MutatingWebhook{
			entry("mworkloadspread.kb.io", "/mutate-apps-kruise-io-v1alpha1-workloadspread", "workloadspreads"),
			entry("mpod.kb.io", "/mutate-pod", "pods"),
			entry("mcloneset.kb.io", "/mutate-apps-kruise-io-v1alpha1-cloneset", "clonesets"),
			entry("mcloneset-v1beta1.kb.io", "/mutate-apps-kruise-io-cloneset", "clonesets"),
		},
	}
	if _, err := configurations.Create(w.Context(), installed, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	third := w.start(w.config)
	stands, err := configurations.Get(w.Context(), podwrightmanager.MutatingName, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	names := map[string]string{}
	for _, webhook := range stands.Webhooks {
		names[webhook.Name] = ptr.Deref(webhook.ClientConfig.URL, "")
	}
	if got := stands.Webhooks; len(got) < 4 || got[0].Name != "mpod.kb.io" || got[1].Name != "mcloneset.kb.io" || got[1].ClientConfig.URL == nil {
		w.Errorf("PF-5: want mpod.kb.io and mcloneset.kb.io first, by URL: %+v", got)
	} else if !strings.HasSuffix(names["mcloneset-v1beta1.kb.io"], "/mutate-apps-kruise-io-v1alpha1-cloneset") || len(got) < 10 {
		w.Errorf("PF-5.1: want what 1.9 asks about, and what the list lacks: %v", names)
	} else if len(got[0].MatchConditions) == 0 {
		w.Errorf("want that only pods are sent which the webhook changes: %+v", got[0])
	}
	if template := stands.Annotations[podwrightmanager.TemplateAnnotation]; !strings.Contains(template, `"mworkloadspread.kb.io"`) {
		w.Errorf("PF-5: the template lacks what was installed: %s", template)
	}
	if err := third.stop(); err != nil {
		w.Error(err)
	}
}
