// SPDX-License-Identifier: Apache-2.0

package install

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/action"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/examples/kit/crds"
	manager "github.com/podwright/podwright/examples/manager/app"
	"github.com/podwright/podwright/examples/tests/testbed"
	podwrightmanager "github.com/podwright/podwright/manager"
)

// asManager is set in the environment of a process that is the manager.
const asManager = "PODWRIGHT_TEST_AS_MANAGER"

func TestMain(m *testing.M) {
	if os.Getenv(asManager) != "" {
		os.Exit(manager.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// The test runs on a real API server what the Job of the hook runs, with its arguments and its rights. It runs that four times: without any
// rights, with its own rights, again when nothing is left, and when the release is gone. What others have registered stays.
func TestUninstallOnARealControlPlane(t *testing.T) {
	control, ctx := testbed.Control(t), t.Context()
	i := &installation{t, control, kubernetes.NewForConfigOrDie(control.Config()), dynamic.NewForConfigOrDie(control.Config())}
	i.helmInstall(func(*action.Install) {})
	i.runs()
	i.register("kruise-webhook-service", podwrightmanager.MutatingName, podwrightmanager.ValidatingName, "statefulsets.apps.kruise.io")
	i.register("of-another", "a-mutating-webhook-of-another", "a-validating-webhook-of-another", "daemonsets.apps.kruise.io")
	all := i.registered()
	if len(all) < 6 {
		t.Fatalf("registered: %v", all)
	}

	stranger, err := control.Account(ctx, []byte("apiVersion: v1\nkind: ServiceAccount\nmetadata: {namespace: default, name: stranger}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if code, log := i.remove(stranger.Kubeconfig); code != 1 || !strings.Contains(log, "--remove-webhooks-of="+managerName+": ") || !strings.Contains(log, "is forbidden") {
		t.Errorf("without rights it ends with %d:\n%s", code, log)
	}
	if diff := cmp.Diff(all, i.registered()); diff != "" {
		t.Errorf("without rights (-before +after):\n%s", diff)
	}
	i.runs()

	account, err := control.Account(ctx, i.rights())
	if err != nil {
		t.Fatal(err)
	}
	want := without(all, podwrightmanager.MutatingName, podwrightmanager.ValidatingName, "statefulsets.apps.kruise.io")
	for _, when := range []string{"the first time", "the second time", "once the release is gone"} {
		if when == "once the release is gone" {
			i.helmUninstall()
			i.eventually("the managers to be gone", func() error {
				_, err := i.core.AppsV1().Deployments("kruise-system").Get(ctx, managerName, metav1.GetOptions{})
				if apierrors.IsNotFound(err) {
					return nil
				}
				return fmt.Errorf("they are there: %w", err)
			})
		}
		code, log := i.remove(account.Kubeconfig)
		if code != 0 {
			t.Errorf("%s it ends with %d:\n%s", when, code, log)
		}
		if diff := cmp.Diff(want, i.registered()); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", when, diff, log)
		}
		pods, err := i.core.CoreV1().Pods("kruise-system").List(ctx, metav1.ListOptions{LabelSelector: labels.FormatLabels(find[appsv1.Deployment](t, rendered(t, nil), "Deployment").Spec.Template.Labels)})
		if err != nil || len(pods.Items) != 0 {
			t.Errorf("%s %d managers are left: %v", when, len(pods.Items), err)
		}
	}
}

// remove runs the program of the Job with its arguments, as a ServiceAccount. It returns the exit code and the log.
func (i *installation) remove(kubeconfig string) (code int, log string) {
	i.Helper()
	job := find[batchv1.Job](i.T, hooks(i.T, nil), "Job")
	program := exec.CommandContext(i.Context(), os.Args[0], append([]string{"--kubeconfig=" + kubeconfig}, job.Spec.Template.Spec.Containers[0].Args...)...)
	program.Env = append(os.Environ(), asManager+"=1")
	var output bytes.Buffer
	program.Stdout, program.Stderr = &output, &output
	var exit *exec.ExitError
	if err := program.Run(); err != nil && !errors.As(err, &exit) {
		i.Fatal(err)
	}
	return program.ProcessState.ExitCode(), output.String()
}

// rights are the objects of the hook that give the Job its rights.
func (i *installation) rights() (manifest []byte) {
	i.Helper()
	for _, object := range hooks(i.T, nil) {
		if object.GetKind() == "Job" {
			continue
		}
		text, err := yaml.Marshal(object)
		if err != nil {
			i.Fatal(err)
		}
		manifest = append(append(manifest, "---\n"...), text...)
	}
	return manifest
}

// register registers two webhooks and one for conversions, all of a Service.
func (i *installation) register(service, mutating, validating, converted string) {
	i.Helper()
	asks := admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "kruise-system", Name: service}}
	ignore, none := admissionv1.Ignore, admissionv1.SideEffectClassNone
	rules := []admissionv1.RuleWithOperations{{Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule: admissionv1.Rule{APIGroups: []string{"example.com"}, APIVersions: []string{"v1"}, Resources: []string{"things"}}}}
	_, err := i.core.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(i.Context(), &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: mutating}, Webhooks: []admissionv1.MutatingWebhook{{Name: "m.example.com", ClientConfig: asks, Rules: rules,
			FailurePolicy: &ignore, SideEffects: &none, AdmissionReviewVersions: []string{"v1"}}}}, metav1.CreateOptions{})
	if err != nil {
		i.Fatal(err)
	}
	_, err = i.core.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(i.Context(), &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: validating}, Webhooks: []admissionv1.ValidatingWebhook{{Name: "v.example.com", ClientConfig: asks, Rules: rules,
			FailurePolicy: &ignore, SideEffects: &none, AdmissionReviewVersions: []string{"v1"}}}}, metav1.CreateOptions{})
	if err != nil {
		i.Fatal(err)
	}
	patch := fmt.Sprintf(`{"spec":{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"service":{"namespace":"kruise-system","name":%q}}}}}}`, service)
	if _, err := i.dynamic.Resource(crds.Resource).Patch(i.Context(), converted, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		i.Fatal(err)
	}
}

// registered lists the webhooks of admission and conversion that there are.
func (i *installation) registered() (all []string) {
	i.Helper()
	mutating, err := i.core.AdmissionregistrationV1().MutatingWebhookConfigurations().List(i.Context(), metav1.ListOptions{})
	if err != nil {
		i.Fatal(err)
	}
	for _, c := range mutating.Items {
		all = append(all, c.Name)
	}
	validating, err := i.core.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(i.Context(), metav1.ListOptions{})
	if err != nil {
		i.Fatal(err)
	}
	for _, c := range validating.Items {
		all = append(all, c.Name)
	}
	definitions, err := i.dynamic.Resource(crds.Resource).List(i.Context(), metav1.ListOptions{})
	if err != nil {
		i.Fatal(err)
	}
	for _, c := range definitions.Items {
		if strategy, _, _ := unstructured.NestedString(c.Object, "spec", "conversion", "strategy"); strategy == "Webhook" {
			all = append(all, c.GetName())
		}
	}
	return all
}

// without returns a list without some names.
func without(all []string, gone ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(gone, name) })
}
