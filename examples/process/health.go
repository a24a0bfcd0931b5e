package process

import (
	"fmt"
	"net/http"
	"strings"
)

// Check is one thing that must be in order.
type Check struct {
	// Name stands in the answer, and as a path below the one that asks for all.
	Name string
	// Run returns what is not in order.
	Run func(*http.Request) error
}

// Ping is always in order: the process answers.
func Ping() Check { return Check{"ping", func(*http.Request) error { return nil }} }

// HealthHandler serves /healthz and /readyz, and each check by its own below
// them: 200 "ok", or 503 and the names of what is not in order. The reasons are
// told with ?verbose.
func HealthHandler(healthy, ready []Check) http.Handler {
	mux := http.NewServeMux()
	for path, checks := range map[string][]Check{"/healthz": healthy, "/readyz": ready} {
		mux.Handle("GET "+path, checksHandler(checks))
		for _, one := range checks {
			mux.Handle("GET "+path+"/"+one.Name, checksHandler([]Check{one}))
		}
	}
	return mux
}

func checksHandler(checks []Check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var report strings.Builder
		var failed []string
		for _, one := range checks {
			if err := one.Run(request); err != nil {
				failed = append(failed, one.Name)
				fmt.Fprintf(&report, "[-] %s: %v\n", one.Name, err)
			} else {
				fmt.Fprintf(&report, "[+] %s\n", one.Name)
			}
		}
		if !request.URL.Query().Has("verbose") {
			report.Reset()
		}
		if len(failed) > 0 {
			http.Error(w, report.String()+"failed: "+strings.Join(failed, ", "), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, report.String()+"ok")
	})
}
