// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
)

// If CRDs are missing, the agent does the rest, says what it waits for, and
// begins when they appear.
func TestAgentWithoutCRDs(t *testing.T) {
	s := newSite(t)
	stopRuntime, err := s.runtime.Serve(s.config.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer stopRuntime()
	s.crds.set("nodeimages", false)
	s.crds.set("containerrecreaterequests", false)
	address, stop := s.runLookingAgain(20 * time.Millisecond)
	defer stop()
	ready := func(words string) func() bool {
		return func() bool {
			code, body := get(t, "http://"+address+"/readyz?verbose")
			return code == http.StatusOK && strings.Contains(body, words)
		}
	}
	s.until("ready without CRDs", ready("[+] features: "+
		"kruise-daemon-crr begins when the CRD containerrecreaterequests.apps.kruise.io is installed; "+
		"kruise-daemon-imagepuller begins when the CRD nodeimages.apps.kruise.io is installed\n"))
	if code, body := get(t, "http://"+address+"/healthz"); code != http.StatusOK {
		t.Errorf("not alive: %d %s", code, body)
	}
	if _, err := s.kube.CoreV1().Pods("default").Create(t.Context(), cloneSetPod(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.until("the report", func() bool {
		if err := s.kubelet.Sync(t.Context(), "default", "web-0"); err != nil {
			t.Fatal(err)
		}
		pod, err := s.kube.CoreV1().Pods("default").Get(t.Context(), "web-0", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return pod.Annotations[inplacev1alpha1.RuntimeContainersMetaAnnotation] != ""
	})

	s.crds.set("nodeimages", true)
	s.until("one is left", ready("[+] features: kruise-daemon-crr begins when the CRD containerrecreaterequests.apps.kruise.io is installed\n"))
	d, err := distributionclient.NewForConfig(s.api.Config("test"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.NodeImages().Create(t.Context(), &distributionv1alpha1.NodeImage{
		ObjectMeta: metav1.ObjectMeta{Name: s.config.NodeName},
		Spec: distributionv1alpha1.NodeImageSpec{Images: map[string]distributionv1alpha1.ImageSpec{
			"nginx": {Tags: []distributionv1alpha1.ImageTagSpec{{Tag: "1", CreatedAt: new(metav1.Now())}}},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.until("the image is pulled", func() bool {
		n, err := d.NodeImages().Get(t.Context(), s.config.NodeName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return n.Status.Succeeded == 1
	})
	s.crds.set("containerrecreaterequests", true)
	s.until("nothing is left", ready("[+] features\n"))
}

// As long as the API server does not tell what it serves, the agent is not ready.
func TestAgentDoesNotKnowWhatIsServed(t *testing.T) {
	s := newSite(t)
	stopRuntime, err := s.runtime.Serve(s.config.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer stopRuntime()
	s.crds.answers(false)
	address, stop := s.runLookingAgain(20 * time.Millisecond)
	defer stop()
	const why = "[-] features: not yet known whether the API server serves what they are about: " +
		"kruise-daemon-containermeta, kruise-daemon-crr, kruise-daemon-imagepuller, kruise-daemon-podprobe\n"
	s.until("it says so", func() bool {
		code, body := get(t, "http://"+address+"/readyz?verbose")
		return code == http.StatusServiceUnavailable && strings.Contains(body, why)
	})
	s.crds.answers(true)
	s.until("ready", func() bool { code, _ := get(t, "http://"+address+"/readyz"); return code == http.StatusOK })
}

// runLookingAgain is run, of an agent that looks for CRDs more often.
func (s *site) runLookingAgain(every time.Duration) (address string, stop func()) {
	s.Helper()
	return s.runAs(func(ctx context.Context, config Config) error {
		a, err := New(config)
		if err != nil {
			return err
		}
		a.lookAgain = every
		return a.Run(ctx)
	})
}
