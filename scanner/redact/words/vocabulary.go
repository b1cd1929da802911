package words

import (
	"maps"
	"slices"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// The vocabulary that tells secrets from prose.
var (
	// Functions are words that follow a credential word in prose, also after a colon.
	Functions = text.Words(`a about above after again against all allows almost also although always among an and another any
		anyone anything are aren't around as ask asked asks at back be became because become been before being below between both but by
		can can't cannot change changed choose click contains could couldn't create created did didn't do does doesn't don't
		during e.g each either else empty ensure enter entered even ever every everyone except expired expires failed for from
		get gets give given go goes had has hasn't have having he hence her here hers him his how however i i'm i.e if in
		incorrect instead into invalid is isn't it it's its just keep kept know known last least leave less let like
		made make makes many may maybe me mentioned might mine minimum missing more most much must must've mustn't my
		need needed needs neither never new next no none nor not nothing now of off often old on once one only onto optional or other
		others our out over own per please provide provided read received remains required requires same saved see seen
		select send sent set shall she should shouldn't since so some something soon stays still stored such supplied
		than that that's the their them then there these they they're this those though through thus till to today too
		try type under unknown unless until up upon us use used uses using valid very via want was wasn't we well were
		weren't what when where whether which while who whoever whom whose why will with within without won't would
		wouldn't wrong right away yes yet you you'll you're your yours`)

	// Nouns are words that stand after a credential word as its company: password manager.
	Nouns = text.Words(`access account accounts agent agents algorithm algorithms analysis and/or app application apps area argument
		attack attacks attempt attempts auth authentication authority backend base based book box bundle
		cache callback center centre challenge change changes character characters check checker checking checks class clear code codes
		column command complexity config configuration confirmation contract cracker cracking creation credential credentials database databases
		dialog discussion dump dumps edition encoder encoding encrypted encryption engine engineer entries entropy entry error errors event events
		example examples expiration expiry exposure feature field fields file files form format forms forum function generation generator grant
		group groups guess guessing guest guidelines guide handler handlers handling hash hasher hashes hashing health hint hints history hygiene id identifier
		ingredient input inputs integration issue issues item items key keys leak leakage leaks length life link links list lists lockout login
		logins logon love manager managers management material meeting member members menu message messages method methods
		mode module name names number object objects option options owner page pages parameter parameters pair pairs part parts path permission
		phrase plugin policies policy practices project projects prompt prompts property protected provider providers protection quality question
		questions random recovery rejected relations remote rename replaced request requests restriction restrictions complexity requirement requirements rescue reset resets resource resources retrieval reuse
		review revoked rotation rule rules safe salt sauce scan scanner scanning screen script scripts section security selector sender server service
		services session sets settings setting setup sharing shop site sites size software source sources space spaces spec spraying standard standards
		status storage store stores strategy strategies strength string strings strip stuffing support synchronization sync system systems
		team text theft times token tokens tool tools topic types update updates updated user username users utility validation
		validator value values variable variables vault vaults verification version violation weakness word words work
		plain-text plaintext cleartext clear-text cipher ciphers ciphertext hash-based local message-digest authenticated ascii-text hexadecimal ascii hex simple
		sha1 sha256 sha512 md5 bcrypt scrypt pbkdf2 enc level address hostname additive internet no-export no-advertise standard expanded members-only ckn`)

	// Connectors lead from the word to the secret: password is x. The secret must look like one.
	Connectors = text.Words(`is was are to as be equals becomes now set changed remains been has reset`)
	Copulas    = text.Words(`is was equals becomes`)
	Dashes     = text.Words("- -- \xe2\x80\x93 \xe2\x80\x94 | \xe2\x94\x82 \xe2\x86\x92")
	Relations  = text.Words(`for of on you that which we`)

	// Markers say how the secret after them is written.
	Markers = text.Words(`encrypted sha1 sha256 sha512 sha-256 sha-512 md5 bcrypt scrypt pbkdf2 plain plaintext plain-text cleartext
		clear-text clear cipher ciphertext irreversible-cipher simple ascii-text ascii hexadecimal hex text local remote enc level cak`)

	// Literals are values that are no secrets.
	Literals = text.Words(`null void true false none nil undefined nopassword required optional yes no await new function func lambda typeof`)

	// Types are what a variable is declared as.
	Types = text.Words(`string str bytes text varchar char secretstr securestring int integer bool boolean object any`)

	// Writings are types that commands have between the word and the secret.
	Writings = text.Words(`string text`)

	// Schemes of authorization that have rules of their own, or none.
	Schemes = text.Words(`bearer basic digest negotiate ntlm kerberos mutual aws4-hmac-sha256 header headers none null true false`)

	// Masks stand in brackets where somebody has hidden a secret.
	Masks = text.Words(`redacted hidden masked filtered removed omitted sanitized protected`)

	// Roots begin the names of members: self.password, req.body.
	Roots = text.Words(`self this cls req request res response config cfg conf os process env environ args argv options opts params
		settings data user ctx context props state body form event kwargs system sys secrets app session credentials creds account
		document window values input payload module flags viper var local each github inputs vars database db`)

	// PlainNames are names of variables for secrets.
	PlainNames = text.Words(`password passwd pwd pass pw secret token key passphrase credential credentials value val input args`)

	// Hashers are functions with figures in their names.
	Hashers = text.Words(`md sha base b utf str bcrypt scrypt pbkdf hash crc blake hmac_sha`)

	// Commands begin a line that configures something.
	Commands = text.Words(`enable username user snmp-server snmp set neighbor server radius-server tacacs-server aaa line ip ipv6 ppp l2tp
		isis crypto tunnel vrrp standby area peer local-user super group key tacacs radius login ftp-server http-server
		digest domain export env setx authentication security vpn ike no undo default`)

	// Articles and the like stand in sentences, and in hardly any command.
	Articles = text.Words(`a an the and or of with without your his her their its this that is are was will must longer not`)

	// Accounts begin a line in which any word after a credential word is the secret.
	Accounts = text.Words(`username neighbor snmp-server ppp l2tp tacacs-server radius-server local-user super`)

	// Holders are keys below that of a secret which have it: password: {value: x}.
	Holders = text.Words(`value plain plaintext text data string current new`)

	// Twins are words for a secret that stand after another one: password secret x.
	Twins = text.Words(`password secret passwd passphrase pwd key token`)

	// Accesses stand between the word and a community: snmp-agent community read cipher x.
	Accesses = text.Words(`read write`)

	// KeyOwners stand before "key" where it means a credential.
	KeyOwners = text.Words(`api access auth encryption private signing master account client app application subscription service
		webhook crypt cipher session admin storage sharedaccess license instrumentation ssh deploy secret authentication`)

	// Owners stand before "secret" where it means a credential.
	Owners = text.Words(`client shared radius tacacs enable app api oauth webhook signing jwt hmac digest admin root`)

	// Suffixes are the ends of identifiers that still name a secret: secretKey, password_hash.
	Suffixes = text.Words(`s key keys accesskey access value text plain plaintext data hash digest enc encrypted base b confirm
		confirmation confirmed again repeat repeated verify old new current default temp temporary admin root user string db prod dev test`)
)

// Following are all words that can follow an assignment without being a secret, sorted.
var Following = func() (all []string) {
	for _, s := range []text.Set{Functions, Literals, Types, Markers} {
		all = slices.AppendSeq(all, maps.Keys(s))
	}
	slices.Sort(all)
	return all
}()

// ShortOwners stand before a short word for a password where it means one for sure: db_pass, SMTP_PW.
var ShortOwners = text.Words(`db database sql mysql mssql pg psql postgres oracle redis mongo rabbit ldap bind ad smtp imap mail email ftp sftp ssh user admin root
	sudo login http https basic auth proxy wifi wlan vpn rds svc service bot my app client server api git registry docker ansible become vault keystore
	truststore`)

// PublicOwners stand before "key", "token" and the like where they mean no credential, however random
// the value looks.
var PublicOwners = text.Words(`public pub primary foreign partition sort cache object bucket lookup idempotency routing message group range natural schema
	sequence hot idx record row column map dict hash child parent item entry data index search session react list node sub dedup dedupe lock event
	registry reg sort etag trace span request response correlation resource image artifact file path s3 blob storage`)

// StandIns are words of which one at least is in a value that stands for a secret that somebody is to
// write there, if the rest are words, too: your-api-key, REPLACE_ME, <token here>.
var StandIns = text.Words(`your yours replace replaceme insert here placeholder example dummy fake sample todo fixme xxx xxxx xxxxx xxxxxxxx redacted hidden omitted
	changeme_placeholder tbd foobar my-secret enter put paste fill`)
