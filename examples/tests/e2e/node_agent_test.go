// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/podwright/podwright/examples/install"
	"github.com/podwright/podwright/examples/nodeagent/app"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/internal/testing/fakecri"
)

// nodeAgent is the real agent of a node whose containers and kubelet are played. It reaches the API server as one does that
// runs on the node.
type nodeAgent struct {
	*cloneSetFixture
	node    string
	runtime *fakecri.Runtime
	kubelet *fakecri.Kubelet
	config  *rest.Config

	lock sync.Mutex
	sent []write
}

// write is a request of the agent that changes something, and the answer to it.
type write struct {
	method, path, contentType string
	body                      []byte
	code                      int
	answer                    string
}

// newNodeAgent returns an agent that has not been started. Its token is bound to a pod on its node, which is made of the
// template of the DaemonSet.
func (s *cloneSetFixture) newNodeAgent(account *cluster.Account, node string) *nodeAgent {
	s.Helper()
	daemon, err := install.NewOptions().DaemonSet()
	if err != nil {
		s.Fatal(err)
	}
	if _, err := s.Core.AppsV1().DaemonSets(daemon.Namespace).Create(s.Context(), daemon, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: "Strict"}); err != nil {
		s.Fatalf("create the DaemonSet: %v", err)
	}
	pod := &corev1.Pod{ObjectMeta: daemon.Spec.Template.ObjectMeta, Spec: daemon.Spec.Template.Spec}
	pod.GenerateName, pod.Spec.NodeName = daemon.Name+"-", node
	pods := s.Core.CoreV1().Pods(daemon.Namespace)
	if pod, err = pods.Create(s.Context(), pod, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = pods.Delete(context.Background(), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	})
	a := &nodeAgent{cloneSetFixture: s, node: node, runtime: fakecri.New(nil)}
	a.kubelet = &fakecri.Kubelet{Client: s.Core, Runtime: a.runtime}
	a.config = s.boundTo(account, &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID})
	return a
}

// boundTo is how an account with a token for an object reaches the API server.
func (s *cloneSetFixture) boundTo(account *cluster.Account, object *authenticationv1.BoundObjectReference) *rest.Config {
	s.Helper()
	bound, err := s.Control.Bound(s.Context(), account, object)
	if err != nil {
		s.Fatal(err)
	}
	return s.connectAs(bound)
}

func (s *cloneSetFixture) connectAs(account *cluster.Account) *rest.Config {
	s.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", account.Kubeconfig)
	if err != nil {
		s.Fatal(err)
	}
	config.QPS = -1
	return config
}

// start runs the agent until the test ends.
func (a *nodeAgent) start() {
	a.Helper()
	socket := filepath.Join(a.TempDir(), "cri.sock")
	stop, err := a.runtime.Serve(socket)
	if err != nil {
		a.Fatal(err)
	}
	config := app.NewConfig(func(string) string { return "" })
	config.REST, config.NodeName, config.Endpoint, config.HealthAddr = rest.CopyConfig(a.config), a.node, socket, ""
	config.REST.Wrap(func(next http.RoundTripper) http.RoundTripper { return &listening{next, a} })
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, config) }()
	a.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			a.Errorf("the agent ends with %v", err)
		}
		stop()
	})
}

// listening has an agent note what it sends.
type listening struct {
	next  http.RoundTripper
	agent *nodeAgent
}

func (l *listening) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodGet {
		return l.next.RoundTrip(request)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	response, err := l.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(answer))
	l.agent.lock.Lock()
	defer l.agent.lock.Unlock()
	l.agent.sent = append(l.agent.sent, write{request.Method, request.URL.Path, request.Header.Get("Content-Type"), body, response.StatusCode, string(answer)})
	return response, err
}

// kind says what a write is about: "patch pods/status".
func (w write) kind() string {
	verb := map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}[w.method]
	parts := strings.Split(strings.Trim(w.path, "/"), "/")
	parts = parts[map[string]int{"api": 2, "apis": 3}[parts[0]]:]
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	if len(parts) > 2 {
		return verb + " " + parts[0] + "/" + parts[2]
	}
	return verb + " " + parts[0]
}

// accepted returns the last write of every kind that was accepted. All others must have come too late: what they were about was
// gone, or had changed.
func (a *nodeAgent) accepted() map[string]write {
	a.lock.Lock()
	defer a.lock.Unlock()
	all := map[string]write{}
	for _, w := range a.sent {
		switch w.code {
		case http.StatusOK, http.StatusCreated:
			all[w.kind()] = w
		case http.StatusNotFound, http.StatusConflict:
		default:
			a.Errorf("%s %s: observed %d %s", w.method, w.path, w.code, w.answer)
		}
	}
	return all
}

// repeat sends a write again as another user, to an object in whatever state, and returns the refusal.
func (w write) repeat(ctx context.Context, as *rest.Config) error {
	body := w.body
	if strings.HasSuffix(w.contentType, "-patch+json") {
		var patch map[string]any
		if err := json.Unmarshal(body, &patch); err != nil {
			return err
		}
		if metadata, found := patch["metadata"].(map[string]any); found {
			delete(metadata, "resourceVersion")
		}
		var err error
		if body, err = json.Marshal(patch); err != nil {
			return err
		}
	}
	client, err := rest.HTTPClientFor(as)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, w.method, as.Host+w.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", w.contentType)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode < 300 {
		return err
	}
	var status metav1.Status
	if err := json.Unmarshal(answer, &status); err != nil {
		return errors.New(string(answer))
	}
	return fmt.Errorf("%d %s", response.StatusCode, status.Message)
}
