package app

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// quiet is a configuration that takes no port of its own.
func quiet(t *testing.T, host string) Config {
	t.Helper()
	config := mustParse(t, noEnv).Config
	config.REST = &rest.Config{Host: host}
	config.MetricsAddr, config.HealthProbeAddr = "0", "0"
	config.Webhook.BindAddress, config.Webhook.Port = "127.0.0.1", 0
	return config
}

func TestStartFailsWithTheReason(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"gitVersion":"v1.37.1"}`))
			return
		}
		http.Error(w, "not for you", http.StatusForbidden)
	}))
	defer refuses.Close()
	cases := map[string]struct{ host, want string }{
		"PF-4: no API server":                {"http://127.0.0.1:1", "the API server http://127.0.0.1:1 does not answer"},
		"PF-4: registration must succeed":    {refuses.URL, "not in order after"},
		"PF-4: registration says what fails": {refuses.URL, "not for you"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m, err := New(quiet(t, c.host))
			if err != nil {
				t.Fatal(err)
			}
			m.patience = time.Second
			if err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Run gives %v, want %q", err, c.want)
			}
			if _, err := net.Dial("tcp", m.Addresses.Webhook); err == nil {
				t.Error("the webhook server still listens after Run")
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cases := map[string]struct {
		change func(*Config)
		want   string
	}{
		"a wrong configuration": {func(c *Config) { c.CloneSetWorkers = 0 }, "--cloneset-workers=0"},
		"an address in use":     {func(c *Config) { c.MetricsAddr = taken.Addr().String() }, "serving metrics on " + taken.Addr().String()},
		"a webhook port in use": {func(c *Config) { c.Webhook.Port = taken.Addr().(*net.TCPAddr).Port }, "serving webhooks on"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			config := quiet(t, "http://127.0.0.1:1")
			c.change(&config)
			if _, err := New(config); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("New gives %v, want %q", err, c.want)
			}
		})
	}
}
