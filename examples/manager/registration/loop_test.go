package registration

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/examples/manager/certificates"
)

// writes returns what was asked of the API server besides reading.
func writes(client *fake.Clientset) []string {
	var asked []string
	for _, action := range client.Actions() {
		switch action.GetVerb() {
		case "list", "watch", "get":
		default:
			asked = append(asked, action.GetVerb()+" "+action.GetResource().Resource)
		}
	}
	return asked
}

// newLoop returns a Loop against an empty API server, after changes of its
// configuration. Its caches are filled by hand, with sync.
func newLoop(t *testing.T, client *fake.Clientset, changes ...func(*Config)) *Loop {
	t.Helper()
	config := Config{
		Kubernetes: client, Namespace: "kruise-system", Secret: "certs", Host: "10.0.0.1", Register: true,
		Target: Target{URL: byURL.URL, Serves: byURL.Serves},
		Use:    func(context.Context, certificates.Bundle) error { return nil },
	}
	for _, change := range changes {
		change(&config)
	}
	return New(config)
}

func (l *Loop) sync(t *testing.T, client *fake.Clientset) {
	t.Helper()
	ctx := t.Context()
	secret, err := client.CoreV1().Secrets("kruise-system").Get(ctx, "certs", metav1.GetOptions{})
	if err == nil {
		err = l.secrets.GetStore().Add(secret)
	}
	if err != nil {
		t.Fatal(err)
	}
	mutating, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, MutatingName, metav1.GetOptions{})
	if err == nil {
		err = l.mutating.GetStore().Add(mutating)
	}
	if err != nil {
		t.Fatal(err)
	}
	validating, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, ValidatingName, metav1.GetOptions{})
	if err == nil {
		err = l.validating.GetStore().Add(validating)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestPass(t *testing.T) {
	client := fake.NewClientset()
	loop := newLoop(t, client)
	pass := func(step string, want []string) {
		t.Helper()
		client.ClearActions()
		if err := loop.pass(t.Context()); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		if diff := cmp.Diff(want, writes(client)); diff != "" {
			t.Errorf("%s: writes (-want +got):\n%s", step, diff)
		}
		loop.sync(t, client)
	}
	pass("PF-5: on an empty cluster", []string{
		"create secrets", "create mutatingwebhookconfigurations", "create validatingwebhookconfigurations",
	})
	pass("PF-5: when everything stands", nil)
	client.ClearActions()
	if err := loop.pass(t.Context()); err != nil || len(client.Actions()) != 0 {
		t.Errorf("requests while nothing changes: %v (%v)", client.Actions(), err)
	}

	configurations := client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	edited, err := configurations.Get(t.Context(), MutatingName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	edited.Webhooks[0].TimeoutSeconds = ptr.To[int32](1)
	if _, err := configurations.Update(t.Context(), edited, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	loop.sync(t, client)
	pass("PF-5: after a hand edit", []string{"update mutatingwebhookconfigurations"})

	replica := newLoop(t, client)
	replica.sync(t, client)
	loop = replica
	pass("PF-5: by a second replica", nil)
}

func TestPassWithoutRegistration(t *testing.T) {
	client := fake.NewClientset()
	loop := newLoop(t, client)
	loop.Register = false
	if err := loop.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"create secrets"}, writes(client)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// The loop succeeds, answers a change, and ends.
func TestRun(t *testing.T) {
	client := fake.NewClientset()
	loop := newLoop(t, client)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- loop.Run(ctx) }()
	select {
	case <-loop.Succeeded():
	case <-ctx.Done():
		t.Fatalf("no success: %v", loop.LastError())
	}
	if err := loop.LastError(); err != nil {
		t.Errorf("an error after success: %v", err)
	}

	recreated := make(chan struct{}, 1)
	client.PrependReactor("create", "validatingwebhookconfigurations", func(clienttesting.Action) (bool, runtime.Object, error) {
		recreated <- struct{}{}
		return false, nil, nil
	})
	if err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(ctx, ValidatingName, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-recreated:
	case <-ctx.Done():
		t.Fatal("a deleted configuration does not come back")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run ends with %v", err)
	}
}
