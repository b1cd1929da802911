package usage

import (
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

func checkStats(p *parsed) string {
	if p.has("--no-stream") {
		p.traits &^= Endless
	}
	return ""
}

func checkUntil(p *parsed) string {
	if p.has("--until") {
		p.traits &^= Endless
	}
	return ""
}

// checkKubeGet notes that secrets are shown, and refuses manifests from elsewhere.
func checkKubeGet(p *parsed) string {
	for i := range p.operands {
		for name := range strings.SplitSeq(strings.ToLower(p.operand(i)), ",") {
			if kind, _, _ := strings.Cut(name, "/"); kind == "secret" || kind == "secrets" {
				if _, ok := p.value("-o", "--output", "--template"); ok {
					p.traits |= Secret
				}
			}
		}
	}
	if v, ok := p.value("-o", "--output"); ok && strings.Contains(v.Text, "-file=") {
		p.traits |= Secret
	}
	return ""
}

// checkKubeDry is that of verbs that only rehearse: with --dry-run each time it is given, and never none.
func checkKubeDry(p *parsed) string {
	found := false
	for _, g := range p.options {
		if g.name != "--dry-run" {
			continue
		}
		if !g.has || !g.value.Fixed || g.value.Text != "client" && g.value.Text != "server" {
			return "kubectl rehearses only with --dry-run=client or =server"
		}
		found = true
	}
	if !found {
		return p.name + " changes objects"
	}
	return ""
}

func checkAptSim(p *parsed) string {
	if len(p.parents) == 0 && p.style&subs != 0 || p.has("-s", "--simulate", "--dry-run", "--just-print", "--recon", "--no-act") {
		return ""
	}
	return p.name + " changes packages"
}

var dpkgLists = []string{
	"-l", "-L", "-s", "-S", "-W", "-p", "-V", "-C", "-I", "-c", "-f", "--list", "--listfiles", "--status", "--search", "--print-avail", "--get-selections", "--verify", "--audit", "--print-architecture", "--print-foreign-architectures",
	"--contents", "--info", "--field", "--show", "--compare-versions", "--version", "--assert-help",
}

func checkDpkg(p *parsed) string {
	if p.has(dpkgLists...) {
		return ""
	}
	return p.name + " is not known to only read"
}

// checkPacman is that of queries, and of what -S looks up.
func checkPacman(p *parsed) string {
	switch {
	case p.has("-Q", "--query") && !p.has("-S"):
		return ""
	case p.has("-S") && p.has("-i", "-s", "-l", "--info", "--search") && !p.has("-c", "-u", "-d"):
		return ""
	case p.has("-F") && !p.has("-S"):
		return ""
	}
	return "pacman changes packages"
}

func checkTerraformFmt(p *parsed) string {
	if v, ok := p.value("-write"); p.has("-check") || ok && v.Text == "false" {
		return ""
	}
	return "terraform fmt writes files"
}

func checkScreen(p *parsed) string {
	if len(p.words) == 1 && (p.words[0].Text == "-ls" || p.words[0].Text == "-list") {
		return ""
	}
	return "screen runs a program"
}

func checkAWSKey(p *parsed) string {
	if text.ContainsFold(p.operand(0), "secret") || text.ContainsFold(p.operand(0), "token") {
		p.traits |= Secret
	}
	return ""
}

// checkGitHub is that of gh api: a GET, and no query that may change something.
func checkGitHub(p *parsed) string {
	method, given := p.value("-X", "--method")
	if given && !strings.EqualFold(method.Text, "GET") && !strings.EqualFold(method.Text, "HEAD") || !given && p.has("-f", "-F", "--field", "--raw-field") {
		return "gh api sends something"
	}
	if p.operand(0) == "" || strings.Contains(p.operand(0), "graphql") {
		return "gh api is not known to only read"
	}
	return ""
}

func checkFly(p *parsed) string {
	if len(p.operands) == 0 || p.operand(0) == "list" && strings.HasSuffix(p.name, "apps") {
		return ""
	}
	return p.name + " is not known to only read with " + p.operand(0)
}

// group is what the words of a tool are made of: groups of commands, and verbs that read.
type group struct{ groups, verbs, secrets text.Set }

var groups = map[string]group{
	"gcloud": {
		text.Words(`beta alpha compute instances disks snapshots images networks subnets firewall-rules addresses routers routes zones regions machine-types forwarding-rules target-pools health-checks backend-services
			url-maps ssl-certificates instance-groups managed unmanaged instance-templates project-info projects organizations resource-manager folders iam service-accounts roles keys container clusters node-pools operations
			sql databases backups users tiers flags storage buckets objects functions run services revisions jobs executions pubsub topics subscriptions logging logs sinks metrics monitoring dashboards policies
			dns managed-zones record-sets app versions auth config configurations components info artifacts repositories packages docker builds triggers kms keyrings secrets billing accounts
			redis memcache filestore spanner bigtable dataproc dataflow composer environments deployment-manager deployments endpoints scheduler tasks queues asset bq network-connectivity vpn-tunnels vpn-gateways access-context-manager`),
		text.Words("list describe get-value get-iam-policy list-tags list-grantable-roles get-server-config search-all-resources read get-health get-status list-usable get-ancestors"),
		text.Words("access print-access-token print-identity-token"),
	},
	"az": {
		text.Words(`vm vmss group account storage container blob network vnet subnet nsg nic public-ip lb dns zone record-set a cname private-dns application-gateway vpn-gateway express-route route-table rule
			aks nodepool acr repository webapp functionapp appservice plan sql server db mysql postgres flexible-server cosmosdb redis keyvault secret key certificate monitor metrics activity-log log-analytics workspace alert
			role assignment definition ad user sp app group-member resource provider lock tag policy state identity disk snapshot image sku extension cloud advisor recommendation consumption usage budget servicebus eventhubs
			namespace queue topic subscription iot hub device bot batch container-app containerapp job env revision location feature deployment operation config appconfig backup vault item vm-size`),
		text.Words("list show list-sizes list-skus list-locations list-usage list-ip-addresses get-instance-view show-usage list-deleted list-definitions list-namespaces list-tags show-tags show-manifests get-upgrades get-versions list-vm-resize-options list-instances check-name"),
		text.Words("get-access-token list-keys list-credentials get-credentials show-connection-string download"),
	},
	"openstack": {
		text.Words(`server flavor image network subnet router port security group rule volume snapshot project user role assignment domain endpoint service catalog hypervisor stats keypair floating ip address aggregate
			availability zone compute agent quota limits stack resource event output template object container loadbalancer listener pool member hosts console log backup token extension host`),
		text.Words("list show"), text.Words(""),
	},
}

func init() {
	for _, name := range []string{"linode-cli", "hcloud", "scw", "oci", "ibmcloud", "exo", "civo", "railway", "render", "wrangler", "firebase", "supabase", "rke", "rancher", "kops", "eksctl"} {
		groups[name] = group{
			text.Words(`linodes volumes domains nodebalancers images regions account lke databases server volume network image location datacenter floating-ip ssh-key load-balancer firewall instance bucket cluster clusters nodegroup
				compute iam os ns object-storage ce ks is resource service services ip security-group zone addon vpc subnet projects project apps app get describe kubernetes`),
			text.Words("list ls view show status describe whoami version regions info get get-all"), text.Words(""),
		}
	}
}

// checkGroups is that of tools whose words are groups, then a verb that reads, then names.
func checkGroups(p *parsed) string {
	g := groups[p.name]
	p.traits |= Network
	for n, i := range p.operands {
		w := p.words[i]
		p.word = i
		switch {
		case !w.Fixed:
			return "the verb of " + p.name + " is only known at run time"
		case g.secrets.HasString(w.Text):
			p.traits |= Secret
			p.word = -1
			return ""
		case g.verbs.HasString(w.Text) && (n > 0 || !g.groups.HasString(w.Text)):
			if p.word = -1; w.Text == "get" && n == 0 && p.name != "kops" && p.name != "eksctl" {
				return p.name + " get is not known to only read"
			}
			for _, j := range p.operands[:n+1] {
				p.roles[j] = Subcommand
			}
			return ""
		case !g.groups.HasString(w.Text):
			return p.name + " " + w.Text + " is not known to only read"
		}
	}
	if len(p.operands) == 0 && p.has("--version") || len(p.operands) == 1 && slices.Contains([]string{"info", "version"}, p.operand(0)) {
		return ""
	}
	return p.name + " has no verb that is known to only read"
}

// checkCpio is that of cpio, to which an archive with a colon is on another host, and is read with rsh.
func checkCpio(p *parsed) string {
	for _, w := range p.words {
		if !w.Fixed || strings.Contains(w.Text, ":") {
			return "cpio may run a program that reaches for another host"
		}
	}
	return needs("-t", "--list")(p)
}

// checkWgShow is that of wg show, which prints keys when it is asked for them.
func checkWgShow(p *parsed) string {
	if len(p.operands) > 1 && !text.Lists("public-key listen-port fwmark peers endpoints allowed-ips latest-handshakes transfer persistent-keepalive", p.operand(1)) {
		p.traits |= Secret
	}
	return ""
}
