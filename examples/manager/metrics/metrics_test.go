package metrics

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// scrape returns what Prometheus reads.
func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	body, err := io.ReadAll(recorder.Body)
	if err != nil || recorder.Code != http.StatusOK {
		t.Fatalf("/metrics answers %d (%v): %s", recorder.Code, err, body)
	}
	return string(body)
}

func TestMetrics(t *testing.T) {
	m := NewManager()
	m.Started("cloneset-controller")
	m.Reconciled("cloneset-controller", 3*time.Millisecond, nil)
	m.Reconciled("cloneset-controller", 3*time.Millisecond, errors.New("broken"))
	m.Leader.Set(1)

	queue := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: "cloneset-controller", MetricsProvider: m.Queues})
	defer queue.ShutDown()
	queue.Add("default/sample")

	server := httptest.NewServer(m.Webhook("/validate", http.NotFoundHandler()))
	defer server.Close()
	client := &http.Client{Transport: m.Transport(http.DefaultTransport)}
	response, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	refused := &http.Client{Transport: m.Transport(http.DefaultTransport)}
	if _, err := refused.Get("http://127.0.0.1:1/"); err == nil {
		t.Fatal("port 1 answers")
	}

	text := scrape(t, m)
	host := strings.TrimPrefix(server.URL, "http://")
	for _, want := range []string{
		`kruise_manager_is_leader 1`,
		`controller_runtime_reconcile_total{controller="cloneset-controller",result="success"} 1`,
		`controller_runtime_reconcile_total{controller="cloneset-controller",result="error"} 1`,
		`controller_runtime_reconcile_errors_total{controller="cloneset-controller"} 1`,
		`controller_runtime_reconcile_time_seconds_count{controller="cloneset-controller"} 2`,
		`workqueue_depth{controller="cloneset-controller",name="cloneset-controller"} 1`,
		`workqueue_adds_total{controller="cloneset-controller",name="cloneset-controller"} 1`,
		`controller_runtime_webhook_requests_total{code="404",webhook="/validate"} 1`,
		`rest_client_requests_total{code="404",host="` + host + `",method="GET"} 1`,
		`rest_client_requests_total{code="<error>",host="127.0.0.1:1",method="GET"} 1`,
		`go_goroutines `, `process_resident_memory_bytes `,
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("/metrics lacks %q", want)
		}
	}
}

// Two managers in one process do not disturb each other.
func TestMetricsAreNotGlobal(t *testing.T) {
	first, second := NewManager(), NewManager()
	first.Leader.Set(1)
	if text := scrape(t, second); !strings.Contains(text, "\nkruise_manager_is_leader 0") {
		t.Error("the second manager shows the state of the first")
	}
}
